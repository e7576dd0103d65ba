//! A folder on a local disk, locked by its writer.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitgrain_files::GrowingMap;

use super::lock::FolderLock;
use super::{Storage, StorageFile};
use crate::StoreError;

/// Files of one folder. While a writable handle exists, no second one can be created for the same folder, in any
/// process; the operating system releases the lock when the process ends.
#[derive(Debug)]
pub struct LocalFolder {
    path: PathBuf,
    /// Lock of the folder; `None` for readers.
    lock: Option<FolderLock>,
    /// Whether files are read through memory maps.
    mapped: bool,
}

impl LocalFolder {
    /// Opens a folder for reading and writing. With `create`, creates it and its parents if necessary.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if it is in use, [`StoreError::ReadOnly`] if the process lacks write permission,
    /// or [`StoreError::Io`].
    pub fn lock(path: impl AsRef<Path>, create: bool) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
            _ => StoreError::Io { name: path.display().to_string(), source },
        };
        if create {
            create_durably(path).map_err(failed)?;
        }
        let lock = FolderLock::take(path, failed)?;
        Ok(Self { path: path.to_owned(), lock: Some(lock), mapped: true })
    }

    /// Opens a folder read-only, even while another process writes to it.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the folder does not exist.
    pub fn read_only(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let failed = |source| StoreError::Io { name: path.display().to_string(), source };
        fs::read_dir(path).map_err(failed)?;
        Ok(Self { path: path.to_owned(), lock: None, mapped: true })
    }

    /// Enables or disables memory maps for reads. Enabled by default.
    #[must_use]
    pub fn mapped(mut self, mapped: bool) -> Self {
        self.mapped = mapped;
        self
    }

    fn file(&self, file: File) -> Arc<dyn StorageFile> {
        Arc::new(LocalFile { file, map: self.mapped.then(GrowingMap::default) })
    }

    fn writable(&self) -> io::Result<()> {
        self.lock.as_ref().ok_or_else(|| io::ErrorKind::ReadOnlyFilesystem.into()).and_then(FolderLock::check)
    }
}

/// Creates a folder and makes its name durable in the parent folder.
fn create_durably(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(path)?;
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync_names(parent),
        _ => sync_names(Path::new(".")),
    }
}

/// Fsyncs a folder. A no-op on Windows, which persists names itself and cannot open folders.
fn sync_names(folder: &Path) -> io::Result<()> {
    if cfg!(windows) { Ok(()) } else { File::open(folder)?.sync_all() }
}

impl Storage for LocalFolder {
    fn list(&self) -> io::Result<Vec<String>> {
        // Names that are not Unicode are skipped: the store does not create them.
        fs::read_dir(&self.path)?
            .filter_map(|entry| entry.map(|e| e.file_name().into_string().ok()).transpose())
            .collect()
    }

    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        self.writable()?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(self.path.join(name))?;
        Ok(self.file(file))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>> {
        let file = OpenOptions::new().read(true).write(self.lock.is_some()).open(self.path.join(name))?;
        Ok(self.file(file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.writable()?;
        fs::remove_file(self.path.join(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        sync_names(&self.path)
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn available(&self) -> Option<u64> {
        available(&self.path)
    }
}

/// Returns the bytes that this process may still write to the file system of a folder; `None` if unknown.
#[cfg(unix)]
fn available(folder: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(folder).ok()?;
    // Some file systems do not know their size and report zeros.
    if about.f_blocks == 0 { None } else { about.f_bavail.checked_mul(about.f_frsize) }
}

#[cfg(not(unix))]
fn available(_: &Path) -> Option<u64> {
    None
}

/// A file of the folder.
#[derive(Debug)]
struct LocalFile {
    file: File,
    map: Option<GrowingMap>,
}

impl StorageFile for LocalFile {
    #[cfg(unix)]
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => (buffer, offset) = (&mut buffer[read..], offset + read as u64),
            }
        }
        Ok(())
    }

    fn mapped(&self, offset: u64, len: usize) -> Option<&[u8]> {
        self.map.as_ref()?.get(&self.file, offset, len)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match std::os::windows::fs::FileExt::seek_write(&self.file, bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => (bytes, offset) = (&bytes[written..], offset + written as u64),
            }
        }
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_and_names_the_lock_holder() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = LocalFolder::lock(folder.path(), true).expect("nobody else has it");
        let Err(StoreError::Locked { pid }) = LocalFolder::lock(folder.path(), true) else { panic!("locked twice") };
        assert_eq!(pid, std::process::id());
        drop(first);
        LocalFolder::lock(folder.path(), false).expect("free again");
    }

    #[test]
    fn names_are_unique_and_readers_cannot_write() {
        let folder = tempfile::tempdir().expect("a folder");
        let nested = folder.path().join("a/b");
        let local = LocalFolder::lock(&nested, true).expect("made with its parents");
        let file = local.create_new("x").expect("a new name");
        assert_eq!(local.create_new("x").err().map(|e| e.kind()), Some(io::ErrorKind::AlreadyExists));
        file.write_at(0, b"grain").expect("space");
        let reader = LocalFolder::read_only(&nested).expect("while it is locked");
        let mut bytes = [0; 3];
        reader.open("x").and_then(|f| f.read_at(2, &mut bytes)).expect("five bytes are there");
        assert_eq!(&bytes, b"ain");
        let past = reader.open("x").and_then(|f| f.read_at(3, &mut bytes));
        assert_eq!(past.err().map(|e| e.kind()), Some(io::ErrorKind::UnexpectedEof));
        assert!(reader.create_new("y").is_err() && reader.remove("x").is_err());
        assert!(LocalFolder::lock(folder.path().join("none"), false).is_err());
    }
}
