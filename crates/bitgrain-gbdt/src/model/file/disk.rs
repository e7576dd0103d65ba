//! Reading and writing model files.

use std::path::{Path, PathBuf};
use std::{fs, io};

use bitgrain_files::PartFile;

use crate::model::{ExportError, ImportError, Model, ModelError, ModelFormat};

/// Reason why a model cannot be saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// An inconsistent model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model that the format cannot represent.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A file that cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Reason why a model cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file that is not a readable model.
    #[error("{}: {source}", path.display())]
    Import {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the content is not a readable model.
        source: ImportError,
    },
    /// A file that cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl Model {
    /// Writes the model file atomically: the bytes are fsynced before the file gets its name.
    ///
    /// # Errors
    /// Returns [`SaveError::Model`] if [`check`](Self::check) fails, [`SaveError::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), SaveError> {
        let path = path.as_ref();
        let bytes = self.to_bytes()?;
        PartFile::write_atomic(path, &bytes).map_err(|source| SaveError::Io { path: path.to_owned(), source })
    }

    /// Writes the model in a format of this or another program, atomically. [`ModelFormat::of_path`] returns the format
    /// that a file extension selects.
    ///
    /// # Errors
    /// Returns [`SaveError::Export`] if [`export`](Self::export) fails, [`SaveError::Io`] if the file cannot be written.
    pub fn save_as(&self, path: impl AsRef<Path>, format: ModelFormat) -> Result<(), SaveError> {
        let path = path.as_ref();
        let bytes = self.export(format)?;
        PartFile::write_atomic(path, &bytes).map_err(|source| SaveError::Io { path: path.to_owned(), source })
    }

    /// Reads a model file, or any file that [`import`](Self::import) supports.
    ///
    /// # Errors
    /// Returns [`LoadError::Io`] if the file cannot be read, [`LoadError::Import`] if it is not a readable model.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|source| LoadError::Io { path: path.to_owned(), source })?;
        Self::import(&bytes).map_err(|source| LoadError::Import { path: path.to_owned(), source })
    }
}
