//! `Mapped`: a file whose ranges are read through the page cache, without copies.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::{Mmap, MmapOptions};

use crate::model::ModelFileError;

/// An open file and its length.
#[derive(Debug)]
pub(crate) struct Mapped {
    path: PathBuf,
    file: File,
    len: u64,
}

impl Mapped {
    pub(crate) fn open(path: &Path) -> Result<Self, ModelFileError> {
        let file = File::open(path).map_err(ModelFileError::io(path))?;
        let metadata = file.metadata().map_err(ModelFileError::io(path))?;
        if metadata.is_dir() {
            return Err(ModelFileError::io(path)(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { path: path.to_owned(), file, len: metadata.len() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file; only the pages that are looked at are read.
    pub(crate) fn whole(&self) -> Result<Window, ModelFileError> {
        self.window(0..self.len)
    }

    /// A range of the file. Dropping it gives its pages back, so that memory never holds more than is looked at.
    pub(crate) fn window(&self, range: Range<u64>) -> Result<Window, ModelFileError> {
        let io = ModelFileError::io(&self.path);
        if range.start > range.end || range.end > self.len {
            return Err(io(io::ErrorKind::UnexpectedEof.into()));
        }
        let Ok(len) = usize::try_from(range.end - range.start) else {
            return Err(io(io::ErrorKind::OutOfMemory.into()));
        };
        if len == 0 {
            return Ok(Window(None));
        }
        let mut options = MmapOptions::new();
        options.offset(range.start).len(len);
        #[expect(
            unsafe_code,
            reason = "a mapping can change under us if another process writes the file: decision 008"
        )]
        // SAFETY: the range lies in the file as it was when opened; what is mapped is only read, as bytes for which
        // every value is valid. A file that another process cuts short meanwhile ends this one with SIGBUS, which is
        // the price of reading without copies and is written in the documentation.
        let map = unsafe { options.map(&self.file) }.map_err(io)?;
        Ok(Window(Some(map)))
    }
}

/// Bytes of a file.
#[derive(Debug)]
pub(crate) struct Window(Option<Mmap>);

impl std::ops::Deref for Window {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
