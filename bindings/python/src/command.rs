//! `python -m bitgrain`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line with `words`, whose first is the program name, and returns its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| bitgrain_cli::run(words))
}
