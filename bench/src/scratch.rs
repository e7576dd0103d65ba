//! A temporary folder for the files of a run.

use std::io;
use std::path::{Path, PathBuf};

/// A folder that is deleted at the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder in `TMPDIR` if it is set, otherwise in memory, so that no disk affects the comparison.
    pub(crate) fn new(suite: &str) -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let chosen = std::env::var_os("TMPDIR").is_some() || !memory.is_dir();
        let parent = if chosen { std::env::temp_dir() } else { memory.to_owned() };
        let folder = parent.join(format!("bitgrain-bench-{suite}-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
