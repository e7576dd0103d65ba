//! Gradient-boosted trees.

use pyo3::prelude::*;

/// Adds what this module offers.
pub(crate) fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
