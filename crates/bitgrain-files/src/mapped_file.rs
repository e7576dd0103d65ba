//! `MappedFile`: ranges of a file read through the page cache, without copies. See `docs/decisions/008-mapped-files.md`.

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use memmap2::{Mmap, MmapOptions};

/// An open file whose ranges can be mapped.
///
/// If another process truncates the file while a window of it is open, reading the window ends this process with SIGBUS.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    file: File,
    len: u64,
}

impl MappedFile {
    /// Opens a file for reading.
    ///
    /// # Errors
    /// Returns the error of the file system; [`IsADirectory`](io::ErrorKind::IsADirectory) for a directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Self { path: path.to_owned(), file, len: metadata.len() })
    }

    /// The path it was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Maps the whole file. Only the pages that are accessed are read.
    ///
    /// # Errors
    /// As [`window`](Self::window).
    pub fn map_all(&self) -> io::Result<FileWindow> {
        self.window(0..self.len)
    }

    /// Maps a range of the file. Dropping the window releases its pages, so that memory holds only open windows.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) for a range beyond the end of the file,
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory) for a range beyond the address space, or the error of the system.
    pub fn window(&self, range: Range<u64>) -> io::Result<FileWindow> {
        if range.start > range.end || range.end > self.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let len = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // The system refuses maps of zero bytes.
        if len == 0 {
            return Ok(FileWindow(None));
        }
        let mut options = MmapOptions::new();
        options.offset(range.start).len(len);
        #[expect(unsafe_code, reason = "a mapping changes if another process writes the file: decision 008")]
        // SAFETY: the range lies in the file as it was when opened; the map is only read, as bytes for which every value
        // is valid. If another process truncates the file while it is mapped, this process gets SIGBUS, which is the price of
        // reading without copies and is documented on the type.
        let map = unsafe { options.map(&self.file) }?;
        Ok(FileWindow(Some(map)))
    }
}

/// Mapped bytes of a file.
#[derive(Debug)]
pub struct FileWindow(Option<Mmap>);

impl Deref for FileWindow {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
