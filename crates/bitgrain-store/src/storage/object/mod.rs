//! Object storage: a store whose files are immutable objects, listed in a catalog that is replaced by conditional puts.
//!
//! [`ObjectFolder`] is a [`Storage`](super::Storage) over any [`Objects`]. A commit is one put of the next numbered
//! catalog, which succeeds only if that number is not taken; it contains the end of the file being appended, so a small
//! write is a single request. Of two writers, exactly one gets the number; the other one fails with
//! [`StoreError::Superseded`](crate::StoreError::Superseded). Layout of the objects: `spec/objects.md`.

mod address;
mod cache;
mod commit;
mod error;
mod file;
mod folder;
mod garbage;
mod memory;
mod patient;
mod probe;
#[cfg(feature = "remote")]
mod remote;
mod remote_config;

use std::ops::Range;

pub(crate) use self::address::Address;
pub use self::error::ObjectError;
pub(crate) use self::error::superseding_epoch;
pub use self::folder::ObjectFolder;
pub use self::memory::MemoryObjects;
pub(crate) use self::probe::probe;
pub use self::remote_config::{RemoteConfig, Writers};

/// A set of immutable objects with keys, such as a prefix of a bucket. Every operation takes effect completely or not at
/// all, but its answer may be lost.
pub trait Objects: Send + Sync {
    /// Puts an object under a key that is not taken.
    ///
    /// # Errors
    /// Returns [`ObjectError::AlreadyExists`] if the key is taken, or any other [`ObjectError`].
    fn put_new(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError>;

    /// Puts an object under a key that only this caller uses.
    ///
    /// # Errors
    /// Returns any [`ObjectError`] except `AlreadyExists`.
    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError>;

    /// Reads an object, or a range of its bytes.
    ///
    /// # Errors
    /// Returns [`ObjectError::NotFound`] if no object has the key, or any other [`ObjectError`].
    fn get(&self, key: &str, range: Option<Range<u64>>) -> Result<Vec<u8>, ObjectError>;

    /// Returns the keys that start with `folder` and a slash, in any order; all keys if `folder` is empty.
    ///
    /// # Errors
    /// Returns any [`ObjectError`].
    fn list(&self, folder: &str) -> Result<Vec<String>, ObjectError>;

    /// Deletes objects. A missing object is not an error.
    ///
    /// # Errors
    /// Returns any [`ObjectError`]; some of the objects may be deleted then.
    fn delete(&self, keys: &[String]) -> Result<(), ObjectError>;
}
