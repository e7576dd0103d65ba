//! Errors of object storage.

use std::io;

use thiserror::Error;

/// Error of an operation on objects. Messages never contain credentials.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The key is taken.
    #[error("the object already exists")]
    AlreadyExists,
    /// No object has the key.
    #[error("the object does not exist")]
    NotFound,
    /// The server cannot perform the operation.
    #[error("the operation is not supported: {0}")]
    Unsupported(String),
    /// The server rejected the request, and would reject it again.
    #[error("the request was rejected: {0}")]
    Rejected(String),
    /// The request failed; it is unknown whether it took effect, and a retry may succeed.
    #[error("the request failed: {0}")]
    Failed(String),
}

impl ObjectError {
    /// Returns whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

impl From<ObjectError> for io::Error {
    fn from(error: ObjectError) -> Self {
        let kind = match error {
            ObjectError::AlreadyExists => io::ErrorKind::AlreadyExists,
            ObjectError::NotFound => io::ErrorKind::NotFound,
            ObjectError::Unsupported(_) => io::ErrorKind::Unsupported,
            ObjectError::Rejected(_) => io::ErrorKind::PermissionDenied,
            ObjectError::Failed(_) => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// Another writer has taken the number of the next catalog.
#[derive(Debug, Clone, Copy, Error)]
#[error("another writer committed first, in epoch {epoch}")]
pub(super) struct Superseded {
    pub(super) epoch: u64,
}

/// Returns the epoch of the writer that superseded this one, if that is the cause of the error.
pub(crate) fn superseding_epoch(error: &io::Error) -> Option<u64> {
    error.get_ref()?.downcast_ref::<Superseded>().map(|superseded| superseded.epoch)
}
