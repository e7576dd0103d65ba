//! Folders for parsers that take paths: in memory where the system has such a place, and removed after each input.

use std::path::Path;

use tempfile::TempDir;

/// Linux keeps this folder in memory.
const MEMORY: &str = "/dev/shm";

pub(crate) fn folder() -> TempDir {
    let made = if Path::new(MEMORY).is_dir() { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    made.expect("a folder for the input")
}

/// Writes one file and returns its folder, which must outlive the file's use.
pub(crate) fn holding(name: &str, bytes: &[u8]) -> TempDir {
    let folder = folder();
    std::fs::write(folder.path().join(name), bytes).expect("space for the input");
    folder
}
