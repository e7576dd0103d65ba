//! The tree of exceptions, and how errors of the crates become its members.
//!
//! The classes are Python's (`python/bitgrain/errors.py`): only there can one derive from two others.

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

/// An exception to be. Each domain turns its errors into it, so that `?` does the rest.
#[derive(Debug)]
pub(crate) struct Raised(PyErr);

/// What functions for Python return.
pub(crate) type Result<T> = std::result::Result<T, Raised>;

impl Raised {
    /// An exception of this class that says what `error` says.
    pub(crate) fn new<E: PyTypeInfo>(error: impl Display) -> Self {
        Self(PyErr::new::<E, _>(error.to_string()))
    }

    /// A value that cannot be used.
    pub(crate) fn input(error: impl Display) -> Self {
        Self::new::<InputError>(error)
    }

    /// What the system said about a file, with its number and the file's name as `OSError` has them.
    pub(crate) fn file(path: impl AsRef<Path>, error: &io::Error) -> Self {
        let path = path.as_ref();
        match error.raw_os_error() {
            Some(number) => Self(PyErr::new::<FileError, _>((number, words(error), path.as_os_str().to_owned()))),
            None => Self::new::<FileError>(format!("{}: {error}", path.display())),
        }
    }

    /// A type that cannot be used.
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

/// An `OSError` with the number that the system gave, so that `errno` keeps its sense.
impl From<io::Error> for Raised {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(number) => Self(PyErr::new::<FileError, _>((number, words(&error)))),
            None => Self::new::<FileError>(error),
        }
    }
}

/// What the system says, without the number: that is told apart.
fn words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
