//! Copying, removing and listing of folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::TaskError;

/// Removes a folder, if it exists.
pub(crate) fn remove(folder: &Path) -> Result<(), TaskError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Copies all files below `from`.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), TaskError> {
    for file in below(from)? {
        let Ok(name) = file.strip_prefix(from) else { continue };
        let place = to.join(name);
        fs::create_dir_all(place.parent().unwrap_or(to))?;
        fs::copy(&file, place)?;
    }
    Ok(())
}

/// Returns all files below a folder, sorted.
pub(crate) fn below(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let unreadable = |source| TaskError::Unreadable { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            files.extend(below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file.
pub(crate) fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(|source| TaskError::Unreadable { path: path.to_owned(), source })
}
