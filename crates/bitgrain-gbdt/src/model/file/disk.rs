//! Models on disk.

use std::path::{Path, PathBuf};
use std::{fs, io};

use bitgrain_files::PartFile;

use crate::model::{ImportError, Model, ModelError};

/// Why a model could not be saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// It does not fit together.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a model could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is not a model that can be read.
    #[error("{}: {source}", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ImportError,
    },
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Model {
    /// Writes the model's file, whole or not at all: the bytes are on disk before they get the name.
    ///
    /// # Errors
    /// If the model does not pass [`check`](Self::check), or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        let bytes = self.to_bytes()?;
        PartFile::write_whole(path, &bytes).map_err(|source| SaveError::Io { path: path.to_owned(), source })
    }

    /// Writes the model as JSON for people and other programs, whole or not at all. [`load`](Self::load) does not read it.
    ///
    /// # Errors
    /// Returns [`SaveError::Io`] if the file cannot be written.
    pub fn save_json(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        let written = PartFile::write_whole(path, self.to_json().as_bytes());
        written.map_err(|source| SaveError::Io { path: path.to_owned(), source })
    }

    /// Reads a model's file, or one of the files that [`import`](Self::import) reads.
    ///
    /// # Errors
    /// If the file cannot be read, or what is wrong with it.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| LoadError::Io { path: path.to_owned(), source })?;
        Self::import(&bytes).map_err(|source| LoadError::Import { path: path.to_owned(), source })
    }
}
