//! Atomic output files.

use std::path::Path;

use bitgrain::files::PartFile;

use crate::error::CliError;

/// Writes a file atomically: it appears under its name when all bytes are on disk.
pub(crate) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    PartFile::write_atomic(path, bytes).map_err(|source| CliError::File { path: path.to_owned(), source })
}
