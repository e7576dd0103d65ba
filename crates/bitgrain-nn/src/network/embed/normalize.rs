//! Text normalization of BERT: cleanup, isolated Chinese characters, accent removal, lower case.

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Normalization before a text is split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Normalizer {
    #[serde(default = "yes")]
    pub(super) clean_text: bool,
    #[serde(default = "yes")]
    pub(super) handle_chinese_chars: bool,
    /// Defaults to `lowercase`.
    pub(super) strip_accents: Option<bool>,
    #[serde(default = "yes")]
    pub(super) lowercase: bool,
}

fn yes() -> bool {
    true
}

impl Default for Normalizer {
    /// Returns the settings of the uncased models.
    fn default() -> Self {
        Self { clean_text: true, handle_chinese_chars: true, strip_accents: None, lowercase: true }
    }
}

impl Normalizer {
    /// Normalizes whitespace and drops characters that the vocabulary cannot contain.
    pub(super) fn normalize(self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if self.clean_text && is_dropped(c) => {}
                c if self.clean_text && is_space(c) => clean.push(' '),
                c if self.handle_chinese_chars && is_chinese(c) => clean.extend([' ', c, ' ']),
                c => clean.push(c),
            }
        }
        if self.strip_accents.unwrap_or(self.lowercase) {
            let accent = |c: &char| c.general_category() == GeneralCategory::NonspacingMark;
            clean = clean.nfd().filter(|c| !accent(c)).collect();
        }
        // Lowercase each character separately: `str::to_lowercase` would turn a final sigma into another letter.
        if self.lowercase { clean.chars().flat_map(char::to_lowercase).collect() } else { clean }
    }
}

/// Iterates over words and single punctuation marks.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).flat_map(|part| part.split_inclusive(is_mark)).flat_map(|part| {
        // `split_inclusive` leaves a mark at the end of its part, after a word that may be empty.
        let mark = part.chars().next_back().filter(|c| is_mark(*c)).map_or(0, char::len_utf8);
        let (word, mark) = part.split_at(part.len() - mark);
        [word, mark].into_iter().filter(|piece| !piece.is_empty())
    })
}

fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Returns whether a character is a control, format or private-use character, or the replacement character. Unassigned
/// code points stay, as in Hugging Face's tokenizers.
fn is_dropped(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{FFFD}' => true,
        c => matches!(c.general_category(), Control | Format | PrivateUse),
    }
}

/// Returns whether a character is punctuation, or an ASCII symbol that is neither a letter nor a digit.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Returns whether a character is a word on its own, in the ranges that BERT was trained with.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x2_0000..=0x2_A6DF
            | 0x2_A700..=0x2_B73F
            | 0x2_B740..=0x2_B81F
            | 0x2_B920..=0x2_CEAF
            | 0xF900..=0xFAFF
            | 0x2_F800..=0x2_FA1F
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<String> {
        words(&Normalizer::default().normalize(text)).map(str::to_owned).collect()
    }

    #[test]
    fn accents_case_and_control_characters_are_removed() {
        assert_eq!(parts("H\u{e9}llo\u{0} W\u{d6}RLD\u{ad}\u{200b}s"), ["hello", "worlds"]);
        assert_eq!(parts("e\u{301} \u{130}\u{e000}"), ["e", "i"]);
        assert_eq!(parts("a\u{378}"), ["a\u{378}"]);
        assert_eq!(parts("\u{39f}\u{3a3}"), ["\u{3bf}\u{3c3}"]);
    }

    #[test]
    fn punctuation_and_chinese_characters_are_separate_words() {
        assert_eq!(parts("don't...(x)"), ["don", "'", "t", ".", ".", ".", "(", "x", ")"]);
        assert_eq!(parts("ab\u{6c34}\u{706b}c"), ["ab", "\u{6c34}", "\u{706b}", "c"]);
        assert_eq!(parts("\u{ff01}a\u{a0}b\u{3000}c$"), ["\u{ff01}", "a", "b", "c", "$"]);
        assert_eq!(parts(" \t\n\r"), Vec::<String>::new());
    }

    #[test]
    fn cased_models_keep_case_and_accents() {
        let cased = Normalizer { lowercase: false, ..Normalizer::default() };
        assert_eq!(cased.normalize("H\u{e9}"), "H\u{e9}");
        assert_eq!(Normalizer { strip_accents: Some(true), ..cased }.normalize("H\u{e9}"), "He");
    }
}
