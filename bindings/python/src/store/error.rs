//! Which exception an error of the store becomes.

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
            // A caller that can compute the tensor again does the same in both cases.
            E::NotFound { .. } | E::TierZeroNoPolicy { .. } => Self::new::<NotFoundError>(error),
            E::Damaged { .. } => Self::new::<DamagedError>(error),
            E::Io { name, source } if source.kind() == io::ErrorKind::UnexpectedEof => {
                Self::new::<DamagedError>(format_args!("{name} is damaged: it is shorter than it was"))
            }
            E::Foreign { .. } | E::FutureVersion { .. } => Self::new::<FormatError>(error),
            E::Locked { .. } => system::<LockedError>("EAGAIN", &error.to_string(), None),
            E::NoStore => system::<FileError>("ENOENT", &error.to_string(), None),
            E::ReadOnly => {
                system::<FileError>("EROFS", "the store is open for reading only; open it with mode=\"a\"", None)
            }
            _ if error.is_no_space() => system::<FileError>("ENOSPC", &error.to_string(), None),
            E::Stopped { source, .. } if matches!(**source, E::Damaged { .. }) => Self::new::<DamagedError>(error),
            E::Stopped { .. } => system::<FileError>("EIO", &error.to_string(), None),
            E::HasFrames { id, frames } => Self::input(format_args!(
                "{id} holds {frames} frames, which would be dropped; append to it, choose another id, or put it with \
                 replace=True"
            )),
            E::TimeOutOfRange { now, clock } => Self::input(format_args!(
                "time out of range: {now} ms is more than a day from the clock, which shows {clock} ms since 1970; give a \
                 datetime, or open the store with a SimulatedClock"
            )),
            E::NotEmpty { .. } | E::OtherFiles { .. } => system::<FileError>("ENOTEMPTY", &error.to_string(), None),
            E::Poisoned => system::<FileError>("EIO", &error.to_string(), None),
            E::Io { name, source } => Self::file(name, source),
            E::NonFinite { index } => Self::input(format_args!(
                "value at index {index} is not finite; non_finite=\"zero\" or \"clamp\" takes it"
            )),
            _ => Self::input(error),
        }
    }
}

/// Why a store could not be opened, in words for those who call it from Python.
pub(super) fn not_opened(path: &Path, error: StoreError) -> Raised {
    let path = Some(path.to_string_lossy().into_owned());
    match error {
        StoreError::NoStore => system::<FileError>("ENOENT", "there is no store here; mode=\"a\" makes one", path),
        StoreError::ReadOnly => {
            system::<FileError>("EACCES", "this process may not write here; open it with mode=\"r\"", path)
        }
        StoreError::Locked { pid } => {
            let process = if pid == 0 { "another process".to_owned() } else { format!("process {pid}") };
            let message = format!("the store is in use by {process}; open it with mode=\"r\", or wait");
            system::<LockedError>("EAGAIN", &message, path)
        }
        StoreError::Io { ref source, .. } if source.kind() == io::ErrorKind::AlreadyExists => {
            system::<FileError>("ENOTDIR", "this is a file, and a store is a folder", path)
        }
        error @ StoreError::OtherFiles { .. } => system::<FileError>("ENOTEMPTY", &error.to_string(), path),
        error => error.into(),
    }
}

/// An exception with a number of the system, such as `errno.ENOENT`.
fn system<E: PyTypeInfo>(errno: &str, message: &str, path: Option<String>) -> Raised {
    let number = Python::attach(|py| py.import("errno")?.getattr(errno)?.extract::<i32>());
    match (number, path) {
        (Ok(number), Some(path)) => PyErr::new::<E, _>((number, message.to_owned(), path)).into(),
        (Ok(number), None) => PyErr::new::<E, _>((number, message.to_owned())).into(),
        (Err(_), _) => Raised::new::<E>(message),
    }
}
