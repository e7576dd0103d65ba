//! `TokenizerFile`: a `tokenizer.json`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::model::language::LanguageConversionError;

/// The parts of a `tokenizer.json` that conversions need.
#[derive(Debug, Deserialize)]
pub(in crate::model::language) struct TokenizerFile {
    #[serde(skip)]
    pub(super) path: PathBuf,
    #[serde(default)]
    pub(super) added_tokens: Vec<AddedToken>,
    pub(super) normalizer: Option<Value>,
    pub(super) pre_tokenizer: Option<Value>,
    pub(super) post_processor: Option<Value>,
    pub(super) decoder: Option<Value>,
    pub(super) model: Model,
}

/// A token that is not learned: it is matched before the text is split.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct AddedToken {
    pub(super) id: u32,
    pub(super) content: String,
    #[serde(default)]
    pub(super) special: bool,
    #[serde(default)]
    pub(super) normalized: bool,
}

/// The model of a tokenizer: its vocabulary and merges.
#[derive(Debug, Deserialize)]
pub(super) struct Model {
    #[serde(default)]
    pub(super) r#type: String,
    pub(super) vocab: Pieces,
    #[serde(default)]
    pub(super) merges: Vec<Merge>,
    pub(super) unk_token: Option<String>,
    #[serde(default)]
    pub(super) ignore_merges: bool,
    #[serde(default)]
    pub(super) byte_fallback: bool,
}

/// A vocabulary: ids by token, or tokens with their scores in order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Pieces {
    Ids(HashMap<String, u32>),
    Scored(Vec<(String, f32)>),
}

/// A merge, in the notation of old and new files.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Merge {
    Pair([String; 2]),
    Text(String),
}

impl Merge {
    /// Returns both halves.
    pub(super) fn halves(&self) -> Option<(&str, &str)> {
        match self {
            Self::Pair([left, right]) => Some((left, right)),
            Self::Text(text) => text.split_once(' '),
        }
    }
}

impl TokenizerFile {
    /// Reads the `tokenizer.json` of a folder; `None` without one.
    pub(in crate::model::language) fn read(folder: &Path) -> Result<Option<Self>, LanguageConversionError> {
        let path = folder.join("tokenizer.json");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(LanguageConversionError::Io { path, source }),
        };
        let file: Result<Self, _> = serde_json::from_slice(&bytes);
        match file {
            Ok(file) => Ok(Some(Self { path, ..file })),
            Err(error) => Err(LanguageConversionError::Tokenizer { path, reason: format!("not a tokenizer: {error}") }),
        }
    }

    /// Returns whether the file holds a SentencePiece model: byte-pair merges of characters with bytes as a fallback.
    pub(super) fn is_sentence_piece(&self) -> bool {
        let sequence = self.decoder.as_ref().is_some_and(|decoder| decoder["type"] == "Sequence");
        self.model.r#type == "BPE" && self.model.byte_fallback && sequence
    }

    /// Returns the learned tokens by id. An id that occurs twice or beyond a plausible range is an error.
    pub(super) fn learned(&self) -> Result<Vec<(u32, &str)>, LanguageConversionError> {
        let mut all: Vec<(u32, &str)> = match &self.model.vocab {
            Pieces::Ids(ids) => ids.iter().map(|(token, id)| (*id, token.as_str())).collect(),
            Pieces::Scored(list) => (0_u32..).zip(list).map(|(id, (token, _))| (id, token.as_str())).collect(),
        };
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                Err(self.wrong(format!("tokens `{}` and `{}` have the id {}", pair[0].1, pair[1].1, pair[0].0)))
            }
            None => Ok(all),
        }
    }

    pub(super) fn wrong(&self, reason: String) -> LanguageConversionError {
        LanguageConversionError::Tokenizer { path: self.path.clone(), reason }
    }
}
