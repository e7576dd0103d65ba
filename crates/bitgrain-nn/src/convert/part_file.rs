//! `PartFile`: a file in the making, that gets its name when it is complete.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use bitgrain_formats::Place;

use crate::ModelError;

/// A file that is being written beside the one it will replace. Dropped before it is named, it is gone.
#[derive(Debug)]
pub(crate) struct PartFile {
    path: PathBuf,
    /// Gone once it has its real name.
    temporary: Option<PathBuf>,
    file: File,
}

impl PartFile {
    /// Writes a small file whole, or not at all.
    pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
        let mut part = Self::create(path)?;
        part.write_at(0, bytes)?;
        part.seal(bytes.len() as u64)?;
        part.publish()
    }

    pub(super) fn create(path: &Path) -> Result<Self, ModelError> {
        let place = Place::new(path).map_err(ModelError::io(path))?;
        let (temporary, file) = place.part().map_err(ModelError::io(path))?;
        Ok(Self { path: place.path().to_owned(), temporary: Some(temporary), file })
    }

    pub(super) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ModelError> {
        let written = self.file.seek(SeekFrom::Start(offset)).and_then(|_| self.file.write_all(bytes));
        written.map_err(ModelError::io(&self.path))
    }

    /// Makes `len` bytes durable; what was never written is zero.
    pub(super) fn seal(&self, len: u64) -> Result<(), ModelError> {
        let sealed = self.file.set_len(len).and_then(|()| self.file.sync_all());
        sealed.map_err(ModelError::io(&self.path))
    }

    /// Gives it its name.
    pub(super) fn publish(mut self) -> Result<(), ModelError> {
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path).map_err(ModelError::io(&self.path))?;
        }
        self.temporary = None;
        // The name itself is in the folder, which has its own place on disk.
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let temporary = folder.path().join(".out.part");
        fs::write(&temporary, "header").expect("writable");
        // Opened to be read: every write fails, as on a full disk.
        let file = File::open(&temporary).expect("just written");
        let path = folder.path().join("out.gguf");
        let mut part = PartFile { path: path.clone(), temporary: Some(temporary.clone()), file };
        let refused = part.write_at(0, b"bytes").expect_err("not writable");
        assert!(matches!(refused, ModelError::Io { .. }), "{refused}");
        drop(part);
        assert!(!temporary.exists() && !path.exists());
    }

    #[test]
    fn a_file_has_no_name_until_it_is_published() {
        let folder = tempfile::tempdir().expect("a folder for tests");
        let path = folder.path().join("out.gguf");
        let mut part = PartFile::create(&path).expect("writable");
        part.write_at(2, b"bytes").expect("writable");
        part.seal(9).expect("writable");
        assert!(!path.exists());
        part.publish().expect("a folder to be named in");
        assert_eq!(fs::read(&path).expect("there"), b"\0\0bytes\0\0");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    }
}
