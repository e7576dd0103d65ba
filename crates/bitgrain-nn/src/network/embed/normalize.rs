//! Text as BERT's vocabulary has it: cleaned, Chinese characters apart, without accents, in lower case.

use serde::Deserialize;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// What is done to a text before it is cut into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) struct Normalizer {
    #[serde(default = "yes")]
    pub(super) clean_text: bool,
    #[serde(default = "yes")]
    pub(super) handle_chinese_chars: bool,
    /// As `lowercase` if nothing is said.
    pub(super) strip_accents: Option<bool>,
    #[serde(default = "yes")]
    pub(super) lowercase: bool,
}

fn yes() -> bool {
    true
}

impl Default for Normalizer {
    /// That of the uncased models.
    fn default() -> Self {
        Self { clean_text: true, handle_chinese_chars: true, strip_accents: None, lowercase: true }
    }
}

impl Normalizer {
    /// The text with one kind of space and without what has no place in the vocabulary.
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
        // Each character by itself: no final sigma, unlike `str::to_lowercase`.
        if self.lowercase { clean.chars().flat_map(char::to_lowercase).collect() } else { clean }
    }
}

/// Words and single marks, in their order.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).flat_map(|part| part.split_inclusive(is_mark)).flat_map(|part| {
        // A mark ends its part: what is before it is a word, if there is something.
        let mark = part.chars().next_back().filter(|c| is_mark(*c)).map_or(0, char::len_utf8);
        let (word, mark) = part.split_at(part.len() - mark);
        [word, mark].into_iter().filter(|piece| !piece.is_empty())
    })
}

fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Control and format characters, private ones, and the sign for broken text. What is not assigned stays, as in Hugging
/// Face's tokenizers.
fn is_dropped(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{FFFD}' => true,
        c => matches!(c.general_category(), Control | Format | PrivateUse),
    }
}

/// Punctuation, and every sign of ASCII that is neither a letter nor a digit.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Characters that are words by themselves, in the ranges that BERT was trained with.
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
    fn accents_case_and_control_characters_go() {
        assert_eq!(parts("H\u{e9}llo\u{0} W\u{d6}RLD\u{ad}\u{200b}s"), ["hello", "worlds"]);
        assert_eq!(parts("e\u{301} \u{130}\u{e000}"), ["e", "i"]);
        assert_eq!(parts("a\u{378}"), ["a\u{378}"]);
        assert_eq!(parts("\u{39f}\u{3a3}"), ["\u{3bf}\u{3c3}"]);
    }

    #[test]
    fn marks_and_chinese_characters_are_words() {
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
