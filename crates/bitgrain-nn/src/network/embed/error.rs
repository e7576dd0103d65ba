//! What can be wrong with a folder that is to embed sentences; each names the file, or the tensor and its shape.

use std::io;
use std::path::{Path, PathBuf};

use crate::ModelFileError;
use crate::network::NetworkError;

/// Why sentences could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// A file of the folder could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder without a vocabulary.
    #[error("{} holds neither tokenizer.json nor vocab.txt", path.display())]
    NoVocabulary {
        /// The folder.
        path: PathBuf,
    },
    /// A file that is no JSON, or lacks a setting.
    #[error("{}: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A setting that another kind of model has.
    #[error("{}: `{setting}` is {found}, and only {known} can be read", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Which setting.
        setting: &'static str,
        /// What it is.
        found: String,
        /// What it could be.
        known: &'static str,
    },
    /// A token that every text needs is not in the vocabulary.
    #[error("{}: there is no token `{token}`", path.display())]
    NoToken {
        /// The file.
        path: PathBuf,
        /// The token.
        token: String,
    },
    /// A vocabulary for a larger table of words.
    #[error("{} has token {id}, and the model has only rows for {rows} tokens", path.display())]
    VocabularySize {
        /// The file.
        path: PathBuf,
        /// The largest number of a token.
        id: u32,
        /// Rows of the table.
        rows: usize,
    },
    /// A tensor of another shape than the configuration asks for.
    #[error("{}: tensor `{tensor}` is {found:?}, and config.json asks for {wanted:?}", path.display())]
    TensorShape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What it should be.
        wanted: Vec<u64>,
        /// What it is.
        found: Vec<u64>,
    },
    /// The weights could not be read, or one is missing.
    #[error(transparent)]
    Model(#[from] ModelFileError),
    /// The network could not be built, morphed or run.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl EmbedError {
    /// Wraps what the file system said about `path`.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// Wraps what the JSON reader said about `path`.
    pub(super) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Json { path, source }
    }

    /// That a setting in `path` is one of another kind of model.
    pub(super) fn unsupported(
        path: &Path,
        setting: &'static str,
        found: impl std::fmt::Debug,
        known: &'static str,
    ) -> Self {
        Self::Unsupported { path: path.to_owned(), setting, found: format!("{found:?}"), known }
    }
}
