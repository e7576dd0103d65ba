//! Models on disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bitgrain_formats::Place;

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
        let failed = |source| SaveError::Io { path: path.to_owned(), source };
        let place = Place::new(path).map_err(failed)?;
        let (temporary, file) = place.part().map_err(failed)?;
        let written = write(file, &bytes).and_then(|()| fs::rename(&temporary, place.path()));
        if let Err(source) = written {
            let _ = fs::remove_file(&temporary);
            return Err(failed(source));
        }
        // The name itself is in the folder, which has its own place on disk.
        let folder = place.path().parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
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

fn write(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}
