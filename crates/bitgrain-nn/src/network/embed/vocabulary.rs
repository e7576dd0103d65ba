//! `Vocabulary`: the word pieces of a model and their ids.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::config::{read, read_if_there};
use super::normalize::Normalizer;
use super::{EmbedError, WordPiece};

/// Default special tokens.
pub(super) const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// Word pieces and their ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Vocabulary {
    /// Pieces at the start of a word.
    pub(super) first: HashMap<Box<str>, u32>,
    /// Pieces inside a word, without their prefix (`##`).
    pub(super) further: HashMap<Box<str>, u32>,
    /// Length of the longest piece in bytes.
    pub(super) longest: usize,
    /// Largest id.
    pub(super) last: u32,
}

impl Vocabulary {
    /// Adds a piece, with the prefix that files write before pieces inside a word.
    pub(super) fn insert(&mut self, piece: &str, prefix: &str, id: u32) {
        self.last = self.last.max(id);
        self.longest = self.longest.max(piece.len());
        if let Some(rest) = piece.strip_prefix(prefix).filter(|rest| !rest.is_empty()) {
            self.further.insert(rest.into(), id);
        }
        self.first.insert(piece.into(), id);
    }
}

/// The fields of `tokenizer.json` that BERT uses.
#[derive(Debug, Deserialize)]
struct TokenizerJson {
    model: ModelJson,
    normalizer: Option<Tagged<Normalizer>>,
    pre_tokenizer: Option<Tagged<IgnoredAny>>,
    #[serde(default)]
    added_tokens: Vec<AddedJson>,
}

#[derive(Debug, Deserialize)]
struct ModelJson {
    // Missing in files from 2021.
    #[serde(default = "word_piece")]
    r#type: String,
    vocab: HashMap<String, u32>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
}

fn word_piece() -> String {
    "WordPiece".to_owned()
}

#[derive(Debug, Deserialize)]
struct Tagged<T> {
    r#type: String,
    #[serde(flatten)]
    rest: T,
}

#[derive(Debug, Deserialize)]
struct AddedJson {
    id: u32,
    content: String,
}

/// `tokenizer_config.json`, next to a `vocab.txt`.
#[derive(Debug, Default, Deserialize)]
struct TokenizerConfigJson {
    do_lower_case: Option<bool>,
    strip_accents: Option<bool>,
    tokenize_chinese_chars: Option<bool>,
}

/// Reads the tokenizer of a folder: `tokenizer.json` if it exists, else `vocab.txt` with `tokenizer_config.json`.
pub(super) fn tokenizer(folder: &Path) -> Result<WordPiece, EmbedError> {
    let (json, lines) = (folder.join("tokenizer.json"), folder.join("vocab.txt"));
    if json.is_file() {
        from_json(&json)
    } else if lines.is_file() {
        from_lines(&lines, folder)
    } else {
        Err(EmbedError::NoVocabulary { path: folder.to_owned() })
    }
}

fn from_json(path: &Path) -> Result<WordPiece, EmbedError> {
    let file: TokenizerJson = read(path)?;
    if file.model.r#type != "WordPiece" {
        return Err(EmbedError::unsupported(path, "model.type", &file.model.r#type, "\"WordPiece\""));
    }
    let normalizer = file.normalizer.filter(|normalizer| normalizer.r#type == "BertNormalizer");
    let Some(normalizer) = normalizer.map(|normalizer| normalizer.rest) else {
        return Err(EmbedError::unsupported(path, "normalizer.type", "another type", "\"BertNormalizer\""));
    };
    if file.pre_tokenizer.is_none_or(|before| before.r#type != "BertPreTokenizer") {
        return Err(EmbedError::unsupported(path, "pre_tokenizer.type", "another type", "\"BertPreTokenizer\""));
    }
    let prefix = file.model.continuing_subword_prefix.unwrap_or_else(|| "##".to_owned());
    let mut vocabulary = Vocabulary::default();
    for (piece, id) in &file.model.vocab {
        vocabulary.insert(piece, &prefix, *id);
    }
    for added in &file.added_tokens {
        vocabulary.last = vocabulary.last.max(added.id);
    }
    let special = file.added_tokens.into_iter().map(|added| (added.content, added.id)).collect();
    let unknown = file.model.unk_token.unwrap_or_else(|| "[UNK]".to_owned());
    let most = file.model.max_input_chars_per_word.unwrap_or(100);
    WordPiece::new(vocabulary, normalizer, special, &unknown, most, path)
}

fn from_lines(path: &Path, folder: &Path) -> Result<WordPiece, EmbedError> {
    let text = std::fs::read_to_string(path).map_err(EmbedError::io(path))?;
    let mut vocabulary = Vocabulary::default();
    for (id, line) in (0_u32..).zip(text.lines()) {
        vocabulary.insert(line.trim_end(), "##", id);
    }
    let config: TokenizerConfigJson = read_if_there(&folder.join("tokenizer_config.json"))?.unwrap_or_default();
    let normalizer = Normalizer {
        clean_text: true,
        handle_chinese_chars: config.tokenize_chinese_chars.unwrap_or(true),
        strip_accents: config.strip_accents,
        lowercase: config.do_lower_case.unwrap_or(true),
    };
    let known = |token: &str| Some((token.to_owned(), *vocabulary.first.get(token)?));
    let special = SPECIAL.into_iter().filter_map(known).collect();
    WordPiece::new(vocabulary, normalizer, special, "[UNK]", 100, path)
}
