//! Conversion of errors of the crates to Python exceptions.
//!
//! The exception classes are defined in Python (`python/bitgrain/errors.py`), because PyO3 cannot derive from two
//! bases.

use std::fmt::Display;
use std::io;
use std::path::Path;

use pyo3::prelude::*;
use pyo3::{PyTypeInfo, import_exception};

import_exception!(bitgrain.errors, InputError);
import_exception!(bitgrain.errors, DTypeError);
import_exception!(bitgrain.errors, NotFoundError);
import_exception!(bitgrain.errors, FileError);
import_exception!(bitgrain.errors, LockedError);
import_exception!(bitgrain.errors, FormatError);
import_exception!(bitgrain.errors, DamagedError);
import_exception!(bitgrain.errors, InternalError);
import_exception!(bitgrain.errors, WorkerError);

/// A Python exception to raise. Each domain implements `From` for its errors, so that `?` converts them.
#[derive(Debug)]
pub(crate) struct Raised(PyErr);

/// Result type of functions exposed to Python.
pub(crate) type Result<T> = std::result::Result<T, Raised>;

impl Raised {
    /// Creates an exception of class `E` with the message of `error`.
    pub(crate) fn new<E: PyTypeInfo>(error: impl Display) -> Self {
        Self(PyErr::new::<E, _>(error.to_string()))
    }

    /// Creates an `InputError`.
    pub(crate) fn input(error: impl Display) -> Self {
        Self::new::<InputError>(error)
    }

    /// Creates a `FileError` with `errno`, message and file name, as `OSError` has them.
    pub(crate) fn file(path: impl AsRef<Path>, error: &io::Error) -> Self {
        let path = path.as_ref();
        match error.raw_os_error() {
            Some(number) => Self(PyErr::new::<FileError, _>((number, words(error), path.as_os_str().to_owned()))),
            None => Self::new::<FileError>(format!("{}: {error}", path.display())),
        }
    }

    /// Creates a `DTypeError`.
    pub(crate) fn dtype(error: impl Display) -> Self {
        Self::new::<DTypeError>(error)
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}

/// Creates a `FileError` that preserves the error number as `errno`.
impl From<io::Error> for Raised {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(number) => Self(PyErr::new::<FileError, _>((number, words(&error)))),
            None => Self::new::<FileError>(error),
        }
    }
}

/// Returns the message of the system without the error number, which `OSError` adds itself.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
