//! Atomic output files.

use std::path::Path;

use bitgrain::files::PartFile;

use crate::error::CliError;

/// Writes a file atomically: it appears under its name when all bytes are on disk.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    PartFile::write_whole(path, bytes).map_err(|source| CliError::File { path: path.to_owned(), source })
}
