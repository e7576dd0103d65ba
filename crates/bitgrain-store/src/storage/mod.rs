//! Storage of the files of a store: a folder on a disk, or memory.
//!
//! A store needs very little: files that grow at their end until they are sealed, are read at any place and removed when
//! no longer needed, and a way to create a name that was not there. So it can be kept elsewhere than in a folder.

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

/// A flat set of named files. After [`create_new`](Storage::create_new) and [`remove`](Storage::remove), the change of
/// names survives a loss of power only once [`sync_folder`](Storage::sync_folder) returned.
pub trait Storage: Send + Sync {
    /// Names of all files, in any order.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn list(&self) -> io::Result<Vec<String>>;

    /// A new, empty file; an error of kind `AlreadyExists` if the name is taken.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn create_new(&self, name: &str) -> io::Result<Arc<dyn StorageFile>>;

    /// An existing file.
    ///
    /// # Errors
    /// Returns an error of kind `NotFound` if no file has the name, or any error of the system.
    fn open(&self, name: &str) -> io::Result<Arc<dyn StorageFile>>;

    /// Removes a name. A file that is open stays readable.
    ///
    /// # Errors
    /// Returns an error of kind `NotFound` if no file has the name, or any error of the system.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes names durable.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn sync_folder(&self) -> io::Result<()>;

    /// The folder on a disk that this is, if it is one.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Bytes that can still be written, as far as that is known. A store refuses to grow into the last of them, so that it can
    /// be compacted.
    fn available(&self) -> Option<u64> {
        None
    }
}

/// An open file. Reads and writes from several threads do not disturb each other.
pub trait StorageFile: Send + Sync {
    /// Fills `buffer` from `offset` on; an error of kind `UnexpectedEof` if the file ends before.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// `len` bytes from `offset` on, where they lie in memory that shows the file; `None` if there is no such memory, and they
    /// are to be read. Only asked for bytes that were written before, and will not change.
    fn mapped(&self, _offset: u64, _len: usize) -> Option<&[u8]> {
        None
    }

    /// Writes all of `bytes` at `offset`, the end of the file. After an error any part of them may be there.
    ///
    /// # Errors
    /// Returns an error of kind `StorageFull` if the disk is full, or any error of the system.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Length in bytes.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn len(&self) -> io::Result<u64>;

    /// True if there is nothing in it.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file to `len` bytes.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes content and length durable.
    ///
    /// # Errors
    /// Returns any error of the system.
    fn sync_data(&self) -> io::Result<()>;
}
