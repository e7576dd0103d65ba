//! Conversion of panics to `bitgrain.errors.InternalError`, a subclass of `Exception`.
//!
//! PyO3 catches a panic at every entry point, including those of worker threads and callbacks, and raises its
//! `PanicException`. That class derives from `BaseException`, so `except Exception` misses it and one panic ends a
//! whole grid search. Changing the base of this one class covers every function, method, property and slot at once; a
//! guard in each of them could be forgotten. Other packages built with PyO3 have their own `PanicException` and are not
//! affected.

use pyo3::PyTypeInfo;
use pyo3::panic::PanicException;
use pyo3::prelude::*;

use crate::error::InternalError;
use crate::process;

/// Makes `InternalError` the base class of the exception that panics raise.
pub(crate) fn raise_as_internal_error(py: Python<'_>) -> PyResult<()> {
    PanicException::type_object(py).setattr("__bases__", (InternalError::type_object(py),))
}

/// Panics, optionally on a worker thread, so that tests can check the conversion in the released wheel.
#[pyfunction]
#[pyo3(name = "_panic", signature = (message, *, on_worker=false))]
pub(crate) fn panic_on_purpose(py: Python<'_>, message: &str, on_worker: bool) {
    if on_worker {
        process::detached(py, || rayon::scope(|scope| scope.spawn(|_| panic!("{message}"))));
    }
    panic!("{message}");
}
