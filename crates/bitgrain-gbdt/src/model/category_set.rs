//! `CategorySet`: set of category codes.

/// Set of category codes, stored as a bitmap.
///
/// ```
/// use bitgrain_gbdt::model::CategorySet;
/// let set: CategorySet = [3, 70].into_iter().collect();
/// assert!(set.contains(70) && !set.contains(4) && !set.contains(1_000_000));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [3, 70]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CategorySet {
    words: Vec<u64>,
}

impl CategorySet {
    /// Returns whether the set contains a code.
    #[must_use]
    pub fn contains(&self, code: u32) -> bool {
        self.words.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    /// Creates a set from a bitmap: code `c` is bit `c % 64` of word `c / 64`.
    #[must_use]
    pub fn from_words(mut words: Vec<u64>) -> Self {
        // Trim trailing zero words, so that equal sets have equal words.
        words.truncate(words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1));
        Self { words }
    }

    /// Bitmap of the set; the last word is not 0.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the largest code.
    #[must_use]
    pub fn max(&self) -> Option<u32> {
        let last = self.words.last()?;
        u32::try_from(self.words.len() * 64 - 1).ok().map(|end| end - last.leading_zeros())
    }

    /// Iterates over the codes in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let of_word =
            |(first, &word): (u32, &u64)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit);
        (0..).step_by(64).zip(&self.words).filter(|(_, word)| **word != 0).flat_map(of_word)
    }
}

impl FromIterator<u32> for CategorySet {
    fn from_iter<I: IntoIterator<Item = u32>>(codes: I) -> Self {
        let mut set = Self::default();
        for code in codes {
            let word = code as usize / 64;
            if word >= set.words.len() {
                set.words.resize(word + 1, 0);
            }
            set.words[word] |= 1 << (code % 64);
        }
        set
    }
}
