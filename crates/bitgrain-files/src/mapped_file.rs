//! `MappedFile`: ranges of a file read through the page cache, without copies. See `docs/decisions/008-mapped-files.md`.

use std::fs::File;
use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};

/// An open file whose ranges can be mapped, or the content of one in memory.
///
/// If another process truncates the file while a window of it is open, reading the window ends this process with SIGBUS.
#[derive(Debug)]
pub struct MappedFile {
    path: PathBuf,
    content: Content,
    len: u64,
}

#[derive(Debug)]
enum Content {
    File(File),
    Memory(Arc<[u8]>),
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
        Ok(Self { path: path.to_owned(), content: Content::File(file), len: metadata.len() })
    }

    /// Treats bytes in memory as a file named `path`, which does not have to exist.
    ///
    /// ```
    /// use bitgrain_files::MappedFile;
    /// let file = MappedFile::from_bytes("grain.bin".as_ref(), *b"grain");
    /// assert_eq!(&*file.window(1..3)?, b"ra");
    /// assert!(file.window(3..6).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn from_bytes(path: &Path, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { path: path.to_owned(), len: bytes.len() as u64, content: Content::Memory(bytes) }
    }

    /// The path it was opened with, or the name that was given to its bytes.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file in bytes when it was opened.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the file was empty when it was opened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
            return Ok(FileWindow(Window::Empty));
        }
        let file = match &self.content {
            Content::File(file) => file,
            Content::Memory(bytes) => {
                let start = usize::try_from(range.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
                return Ok(FileWindow(Window::Memory(Arc::clone(bytes), start..start + len)));
            }
        };
        let mut options = MmapOptions::new();
        options.offset(range.start).len(len);
        #[expect(unsafe_code, reason = "a mapping changes if another process writes the file: decision 008")]
        // SAFETY: the range lies in the file as it was when opened; the map is only read, as bytes for which every value
        // is valid. If another process truncates the file while it is mapped, this process gets SIGBUS, which is the price of
        // reading without copies and is documented on the type.
        let map = unsafe { options.map(file) }?;
        Ok(FileWindow(Window::Map(map)))
    }
}

/// Mapped bytes of a file.
#[derive(Debug)]
pub struct FileWindow(Window);

#[derive(Debug)]
enum Window {
    Empty,
    Map(Mmap),
    Memory(Arc<[u8]>, Range<usize>),
}

impl FileWindow {
    /// Removes the window's pages from the memory of this process. They stay in the page cache as long as the system
    /// has room, and are mapped again when they are read. Does nothing on systems without such a call.
    pub fn release(&self) {
        #[cfg(unix)]
        if let Window::Map(map) = &self.0 {
            #[expect(unsafe_code, reason = "the call would lose changes of a writable map: decision 008")]
            // SAFETY: the map is only read, and its pages are those of a file, so reading them again gives the same bytes.
            let released = unsafe { map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
            // Keeping the pages is harmless.
            drop(released);
        }
    }
}

/// Returns the resident memory of this process in bytes, including mapped files; `None` if the system does not tell.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

impl Deref for FileWindow {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Window::Empty => &[],
            Window::Map(map) => map,
            // The range was checked when the window was made.
            Window::Memory(bytes, range) => bytes.get(range.clone()).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_window_holds_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pages");
        let bytes: Vec<u8> = (0..4_u32 << 20).map(|at| at.to_le_bytes()[1]).collect();
        std::fs::write(&path, &bytes).expect("space");
        let window = MappedFile::open(&path).and_then(|file| file.map_all()).expect("mapped");
        assert!(window[..] == bytes[..]);
        let before = resident_bytes();
        window.release();
        if let (Some(before), Some(after)) = (before, resident_bytes()) {
            assert!(after + (3 << 20) < before, "{before} bytes before, {after} after");
        }
        assert!(window[..] == bytes[..]);
    }
}
