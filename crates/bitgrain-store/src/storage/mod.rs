//! Storage backends: a folder on disk, or memory.
//!
//! A store needs few operations: append to files until they are sealed, read at any offset, delete files, and create a
//! file with a new name. Other backends can implement [`Storage`].

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod local;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod lock;
mod memory;
#[cfg(feature = "simulate")]
pub mod simulated;

use std::io;
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

    /// Writes all of `bytes` at `offset`, the end of the file. On error, any part of them may have been written.
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
}
