//! `Folder`: files for parsers that take paths, in memory where the system supports it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Linux keeps this folder in memory.
const MEMORY: &str = "/dev/shm";

/// A folder that is removed with its files when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parent = Some(PathBuf::from(MEMORY)).filter(|memory| memory.is_dir()).unwrap_or_else(std::env::temp_dir);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("bitgrain-fuzz-{}-{count}", std::process::id()));
        fs::create_dir_all(&path).expect("space for a folder");
        Self(path)
    }

    /// A folder with one file.
    pub(crate) fn holding(name: &str, bytes: &[u8]) -> Self {
        let folder = Self::new();
        folder.write(name, bytes);
        folder
    }

    /// Writes a file; a folder in its name must exist.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).expect("space for the input");
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // an input that failed leaves its folder behind anyway
    }
}
