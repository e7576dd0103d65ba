//! `WordPiece`: the tokenizer of BERT (Wu et al. 2016).

use std::path::{Path, PathBuf};

use super::EmbedError;
use super::normalize::{Normalizer, words};
use super::vocabulary::{Vocabulary, tokenizer};

/// BERT's tokenizer: splits each word into the longest pieces in the vocabulary.
#[derive(Debug, Clone)]
pub struct WordPiece {
    vocabulary: Vocabulary,
    normalizer: Normalizer,
    /// Special tokens that may occur verbatim in a text, such as `[MASK]`.
    special: Vec<(String, u32)>,
    unknown: u32,
    start: u32,
    end: u32,
    pad: u32,
    /// Maximum length in characters of a word that is split; longer words are unknown.
    most: usize,
    path: PathBuf,
}

impl WordPiece {
    /// Reads the tokenizer of a Hugging Face folder: `tokenizer.json`, or `vocab.txt` with `tokenizer_config.json`.
    ///
    /// # Errors
    /// Returns [`EmbedError::NoVocabulary`], [`EmbedError::Io`], [`EmbedError::Json`], [`EmbedError::Unsupported`] for
    /// other kinds of tokenizers, [`EmbedError::NoToken`] for a vocabulary without a required token.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, EmbedError> {
        tokenizer(folder.as_ref())
    }

    pub(super) fn new(
        vocabulary: Vocabulary,
        normalizer: Normalizer,
        special: Vec<(String, u32)>,
        unknown: &str,
        most: usize,
        path: &Path,
    ) -> Result<Self, EmbedError> {
        let id = |token: &str| {
            let named = special.iter().find(|(name, _)| name == token).map(|(_, id)| *id);
            let found = named.or_else(|| vocabulary.first.get(token).copied());
            found.ok_or_else(|| EmbedError::NoToken { path: path.to_owned(), token: token.to_owned() })
        };
        let (unknown, start, end, pad) = (id(unknown)?, id("[CLS]")?, id("[SEP]")?, id("[PAD]")?);
        Ok(Self { unknown, start, end, pad, vocabulary, normalizer, special, most, path: path.to_owned() })
    }

    /// Returns the ids of a text's pieces between the start and end tokens, truncated to `longest` tokens (at least 2).
    #[must_use]
    pub fn encode(&self, text: &str, longest: usize) -> Vec<u32> {
        let room = longest.max(2) - 1;
        let mut ids = vec![self.start];
        let mut rest = text;
        while !rest.is_empty() && ids.len() < room {
            let (before, special) = self.until_special(rest);
            for word in words(&self.normalizer.normalize(before)) {
                self.push_word(word, &mut ids);
                if ids.len() >= room {
                    break;
                }
            }
            let mut len = before.len();
            if let Some((name, id)) = special {
                ids.push(*id);
                len += name.len();
            }
            rest = &rest[len..];
        }
        ids.truncate(room);
        ids.push(self.end);
        ids
    }

    /// Returns the id that pads shorter sequences of a batch.
    #[must_use]
    pub const fn pad(&self) -> u32 {
        self.pad
    }

    /// Returns the largest id.
    #[must_use]
    pub const fn last(&self) -> u32 {
        self.vocabulary.last
    }

    /// Returns the path of the file it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the text before the first special token in it, and that token; the longest if several start there.
    fn until_special<'a>(&self, text: &'a str) -> (&'a str, Option<&(String, u32)>) {
        let named = self.special.iter().filter(|(name, _)| !name.is_empty());
        let found = named.filter_map(|token| Some((text.find(token.0.as_str())?, token)));
        let first = found.min_by_key(|(at, (name, _))| (*at, usize::MAX - name.len()));
        first.map_or((text, None), |(at, token)| (&text[..at], Some(token)))
    }

    /// Splits a word greedily into the longest pieces. A word that cannot be split completely is unknown as a whole.
    fn push_word(&self, word: &str, ids: &mut Vec<u32>) {
        let start = ids.len();
        if word.chars().nth(self.most).is_some() {
            ids.push(self.unknown);
            return;
        }
        let mut rest = word;
        let mut pieces = &self.vocabulary.first;
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
            // No piece is longer than the longest of the vocabulary, so longer prefixes need no lookup.
            let ends = ends.take_while(|end| *end <= self.vocabulary.longest);
            let found =
                ends.collect::<Vec<_>>().into_iter().rev().find_map(|end| Some((end, *pieces.get(&rest[..end])?)));
            let Some((end, id)) = found else {
                ids.truncate(start);
                ids.push(self.unknown);
                return;
            };
            ids.push(id);
            rest = &rest[end..];
            pieces = &self.vocabulary.further;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> WordPiece {
        let mut vocabulary = Vocabulary::default();
        let pieces =
            ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "un", "##aff", "##able", "a", "##a", "play", "##ing"];
        for (id, piece) in (0..).zip(pieces) {
            vocabulary.insert(piece, "##", id);
        }
        let special = vec![("[MASK]".to_owned(), 4), ("[SEP]".to_owned(), 3)];
        WordPiece::new(vocabulary, Normalizer::default(), special, "[UNK]", 100, Path::new("v")).expect("all tokens")
    }

    #[test]
    fn words_are_split_into_the_longest_pieces() {
        assert_eq!(small().encode("Unaffable, PLAYING", 512), [2, 5, 6, 7, 1, 10, 11, 3]);
    }

    #[test]
    fn words_that_cannot_be_split_are_unknown() {
        assert_eq!(small().encode("unknown a", 512), [2, 1, 8, 3]);
        assert_eq!(small().encode(&"a".repeat(100), 512).len(), 102);
        assert_eq!(small().encode(&"a".repeat(101), 512), [2, 1, 3]);
    }

    #[test]
    fn long_sentences_are_truncated_to_the_model_length() {
        let ids = small().encode(&"a ".repeat(600), 512);
        assert_eq!((ids.len(), ids[0], ids[510], ids[511]), (512, 2, 8, 3));
        assert_eq!(small().encode("unaffable", 3), [2, 5, 3]);
        assert_eq!(small().encode("a", 0), [2, 3]);
    }

    #[test]
    fn tokens_can_be_named_in_a_text() {
        assert_eq!(small().encode("a[MASK]a [SEP]", 512), [2, 8, 4, 8, 3, 3]);
        assert_eq!(small().encode("", 512), [2, 3]);
    }
}
