//! Conversion of errors of the store to exceptions.

use std::io;
use std::path::Path;

use bitgrain::store::StoreError;
use pyo3::PyTypeInfo;
use pyo3::prelude::*;

use crate::error::{DamagedError, FileError, FormatError, LockedError, NotFoundError, Raised};

impl From<StoreError> for Raised {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        match &error {
            // One exception for both: a caller that can recompute the tensor handles both the same way.
            E::NotFound { .. } | E::TierZeroNoPolicy { .. } => Self::new::<NotFoundError>(error),
            E::Damaged { .. } => Self::new::<DamagedError>(error),
            E::Io { name, source } if source.kind() == io::ErrorKind::UnexpectedEof => {
                Self::new::<DamagedError>(format_args!("{name} is damaged: the file was truncated"))
            }
            E::Foreign { .. } | E::FutureVersion { .. } => Self::new::<FormatError>(error),
            E::Locked { .. } => system::<LockedError>("EAGAIN", &error.to_string(), None),
            E::NoStore => system::<FileError>("ENOENT", &error.to_string(), None),
            E::ReadOnly => system::<FileError>("EROFS", "the store is open read-only; open it with mode=\"a\"", None),
            _ if error.is_no_space() => system::<FileError>("ENOSPC", &error.to_string(), None),
            E::Stopped { source, .. } if matches!(**source, E::Damaged { .. }) => Self::new::<DamagedError>(error),
            E::Stopped { .. } => system::<FileError>("EIO", &error.to_string(), None),
            E::HasFrames { id, frames } => Self::input(format_args!(
                "`{id}` has {frames} frames that would be lost; append to it, choose another id, or put it with \
                 replace=True"
            )),
            E::TimeOutOfRange { now, clock } => Self::input(format_args!(
                "time out of range: {now} ms is more than a day from the clock ({clock} ms since 1970); pass a \
                 datetime, or open the store with a SimulatedClock"
            )),
            E::NotEmpty { .. } | E::OtherFiles { .. } => system::<FileError>("ENOTEMPTY", &error.to_string(), None),
            E::Poisoned | E::NoConditionalPut { .. } | E::NotReplica { .. } => {
                system::<FileError>("EIO", &error.to_string(), None)
            }
            // Like a lock of another process: the store is fine, and opening it again takes the lock back.
            E::Superseded { .. } => system::<LockedError>("EAGAIN", &error.to_string(), None),
            E::Io { name, source } => Self::file(name, source),
            E::NonFinite { index } => Self::input(format_args!(
                "value at index {index} is not finite; replace it with non_finite=\"zero\" or \"clamp\""
            )),
            _ => Self::input(error),
        }
    }
}

/// Converts an error of opening a store, with Python arguments in the message.
pub(super) fn not_opened(path: &Path, error: StoreError) -> Raised {
    let path = Some(path.to_string_lossy().into_owned());
    match error {
        StoreError::NoStore => system::<FileError>("ENOENT", "no store found; create one with mode=\"a\"", path),
        StoreError::ReadOnly => system::<FileError>("EACCES", "no permission to write; open it with mode=\"r\"", path),
        StoreError::Locked { pid } => {
            let process = if pid == 0 { "another process".to_owned() } else { format!("process {pid}") };
            let message = format!("the store is locked by {process}; open it with mode=\"r\", or wait");
            system::<LockedError>("EAGAIN", &message, path)
        }
        StoreError::Io { ref source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            system::<FileError>("ENOTDIR", "the path is a file; a store is a folder", path)
        }
        error @ StoreError::OtherFiles { .. } => system::<FileError>("ENOTEMPTY", &error.to_string(), path),
        error => error.into(),
    }
}

/// Creates an exception with an error number, such as `errno.ENOENT`.
fn system<E: PyTypeInfo>(errno: &str, message: &str, path: Option<String>) -> Raised {
    let number = Python::attach(|py| py.import("errno")?.getattr(errno)?.extract::<i32>());
    match (number, path) {
        (Ok(number), Some(path)) => PyErr::new::<E, _>((number, message.to_owned(), path)).into(),
        (Ok(number), None) => PyErr::new::<E, _>((number, message.to_owned())).into(),
        (Err(_), _) => Raised::new::<E>(message),
    }
}
