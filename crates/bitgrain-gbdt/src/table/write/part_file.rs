//! `PartFile`: a file in the making, that gets its name when it is complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use bitgrain_formats::Place;

/// A file that is being written beside the one it will replace. Dropped before it is named, it is gone.
#[derive(Debug)]
pub(super) struct PartFile {
    path: PathBuf,
    /// Gone once it has its real name.
    temporary: Option<PathBuf>,
    file: BufWriter<File>,
}

impl PartFile {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let place = Place::new(path)?;
        let (temporary, file) = place.part()?;
        Ok(Self { path: place.path().to_owned(), temporary: Some(temporary), file: BufWriter::new(file) })
    }

    /// Gives it its name, once its bytes are on disk.
    pub(super) fn publish(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
        }
        self.temporary = None;
        Ok(())
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}
