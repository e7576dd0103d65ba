//! Detection of duplicate names.

/// Returns the smallest name that occurs more than once.
///
/// Sorting takes 16 bytes per name and has no worst case that an attacker can provoke; a hash table takes three times
/// the memory.
pub(crate) fn duplicate<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
