//! `EmbedError`: errors of sentence encoders. Messages name the file, or the tensor and its shape.

use std::io;
use std::path::{Path, PathBuf};

use crate::ModelFileError;
use crate::network::NetworkError;

/// Reason why sentences could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A file of the folder could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A folder without a vocabulary.
    #[error("{}: no vocabulary found; expected tokenizer.json or vocab.txt", path.display())]
    NoVocabulary {
        /// Path of the folder.
        path: PathBuf,
    },
    /// A file that is not valid JSON or lacks a setting.
    #[error("{}: {source}", path.display())]
    Json {
        /// Path of the file.
        path: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A setting of an unsupported kind of model.
    #[error("{}: unsupported `{setting}` {found}; expected {known}", path.display())]
    Unsupported {
        /// Path of the file.
        path: PathBuf,
        /// Name of the setting.
        setting: &'static str,
        /// Value in the file.
        found: String,
        /// Supported values.
        known: &'static str,
    },
    /// A required special token that the vocabulary lacks.
    #[error("{}: missing token `{token}`", path.display())]
    NoToken {
        /// Path of the file.
        path: PathBuf,
        /// The token.
        token: String,
    },
    /// A vocabulary with more tokens than the embedding table has rows.
    #[error("{}: token {id} is out of range; the model has {rows} tokens", path.display())]
    VocabularySize {
        /// Path of the file.
        path: PathBuf,
        /// Largest token of the vocabulary.
        id: u32,
        /// Number of rows of the table.
        rows: usize,
    },
    /// A tensor whose shape does not match the configuration.
    #[error("{}: tensor `{tensor}` has shape {found:?}; config.json requires {wanted:?}", path.display())]
    TensorShape {
        /// Path of the file.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
        /// Expected shape.
        wanted: Vec<u64>,
        /// Shape in the file.
        found: Vec<u64>,
    },
    /// The weights could not be read, or a tensor is missing.
    #[error(transparent)]
    Model(#[from] ModelFileError),
    /// The network could not be built, quantized or run.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl EmbedError {
    /// Attaches `path` to an I/O error.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Attaches `path` to a JSON error.
    pub(super) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Json { path, source }
    }

    /// Creates the error for an unsupported setting in `path`.
    pub(super) fn unsupported(
        path: &Path,
        setting: &'static str,
        found: impl std::fmt::Debug,
        known: &'static str,
    ) -> Self {
        Self::Unsupported { path: path.to_owned(), setting, found: format!("{found:?}"), known }
    }
}
