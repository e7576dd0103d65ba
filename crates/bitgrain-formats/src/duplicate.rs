//! The first name that is there twice.

/// The smallest name that occurs more than once.
///
/// Sorting takes 16 bytes a name and a time that no choice of names makes worse; a hash table takes three times that.
pub(crate) fn duplicate<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
