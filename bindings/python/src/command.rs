//! `python -m bitgrain`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command line with these words, the program's name first; gives its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| bitgrain_cli::run(words))
}
