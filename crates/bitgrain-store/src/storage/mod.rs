//! Storage backends: a folder on disk, memory, or object storage.
//!
//! A store needs few operations: append to files until they are sealed, read at any offset, put a small file under a
//! name that is not taken, and delete files. File systems and object stores can provide all of them. Other backends can
//! implement [`Storage`].

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod local;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod lock;
mod memory;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub mod object;
#[cfg(feature = "simulate")]
pub mod simulated;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use local::LocalFolder;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use lock::NAME as LOCK;
pub use memory::MemoryFolder;

/// A flat set of named files. Changes of names by [`create_new`](Storage::create_new) and [`remove`](Storage::remove)
/// survive a power failure only after [`sync_folder`](Storage::sync_folder) returned.
pub trait Storage: Send + Sync {
    /// Returns the names of all files, in any order.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Creates an empty file.
    ///
    /// # Errors
    /// Returns an error of kind `AlreadyExists` if the name is taken, or any error of the operating system.
    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>>;

    /// Puts a small file under a name that is not taken; its name and content are durable when this returns.
    ///
    /// # Errors
    /// Returns [`PutFailure::NotStored`] if the name is taken (kind `AlreadyExists`) or nothing was written, and
    /// [`PutFailure::Unknown`] if the file may or may not be durable.
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), PutFailure> {
        let file = self.create_new(name).map_err(PutFailure::NotStored)?;
        if let Err(source) = file.write_at(0, bytes) {
            return Err(match self.remove(name) {
                Ok(()) => PutFailure::NotStored(source),
                Err(_) => PutFailure::Unknown(source),
            });
        }
        // After a failed fsync the file may or may not be on disk, so the error must not claim either.
        file.sync_data().and_then(|()| self.sync_folder()).map_err(PutFailure::Unknown)
    }

    /// Opens an existing file.
    ///
    /// # Errors
    /// Returns an error of kind `NotFound` if no file has the name, or any error of the operating system.
    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>>;

    /// Removes a name. An open file stays readable.
    ///
    /// # Errors
    /// Returns an error of kind `NotFound` if no file has the name, or any error of the operating system.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes names durable.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn sync_folder(&self) -> io::Result<()>;

    /// Returns the path of the folder on disk, if there is one.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Returns the bytes that can still be written, if known. A store keeps some of them free, so that it can be
    /// compacted.
    fn available(&self) -> Option<u64> {
        None
    }

    /// Returns whether a file can reserve space for later. A store keeps one, so that it can shrink on a full disk.
    fn keeps_reserve(&self) -> bool {
        true
    }
}

/// Failure of [`Storage::put_new`].
#[derive(Debug)]
pub enum PutFailure {
    /// Nothing is stored under the name.
    NotStored(io::Error),
    /// The file may or may not be durable.
    Unknown(io::Error),
}

/// An open file. Concurrent reads and writes from several threads are allowed.
pub trait StorageFile: Send + Sync {
    /// Fills `buffer` with the bytes from `offset`.
    ///
    /// # Errors
    /// Returns an error of kind `UnexpectedEof` if the file ends earlier, or any error of the operating system.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Returns `len` bytes from `offset` as mapped memory, or `None` if they must be read with `read_at`. Only called
    /// for bytes that were written before and will not change.
    fn mapped(&self, _offset: u64, _len: usize) -> Option<&[u8]> {
        None
    }

    /// Appends all of `bytes` at `offset`, the end of the file. On error, any part of them may have been written.
    ///
    /// # Errors
    /// Returns an error of kind `StorageFull` if the disk is full, or any error of the operating system.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns the length in bytes.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn len(&self) -> io::Result<u64>;

    /// Returns whether the file is empty.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Truncates the file to `len` bytes.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes content and length durable.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn sync_data(&self) -> io::Result<()>;

    /// Makes content and length durable, like [`sync_data`](Self::sync_data), and declares that they will not change.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn seal(&self) -> io::Result<()> {
        self.sync_data()
    }

    /// Writes bytes again that an earlier process wrote, without changing them. If an fsync of that process failed, the
    /// page cache may mark them as clean although they never reached the disk, and another fsync would not write them.
    ///
    /// # Errors
    /// Returns any error of the operating system.
    fn rewrite(&self, bytes: Range<u64>) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 20];
        let mut at = bytes.start;
        while at < bytes.end {
            let len = usize::try_from(bytes.end - at).map_or(buffer.len(), |left| left.min(buffer.len()));
            self.read_at(at, &mut buffer[..len])?;
            self.write_at(at, &buffer[..len])?;
            at += len as u64;
        }
        Ok(())
    }
}
