//! Models on disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
        let temporary = temporary(path);
        let written = write_new(&temporary, &bytes).and_then(|()| fs::rename(&temporary, path));
        if let Err(source) = written {
            let _ = fs::remove_file(&temporary);
            return Err(failed(source));
        }
        // The name itself is in the folder, which has its own place on disk.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
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

/// A name beside `path` that nobody else has.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    // Names may be as long as the file system allows, so the temporary one keeps only a part of it.
    let short: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    path.with_file_name(format!(".{short}.{}.{number}.part", std::process::id()))
}

/// New, so that no link that lies there is followed.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
