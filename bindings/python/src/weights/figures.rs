//! How far two arrays are apart, as a dictionary.

use bitgrain::nn::compare::Figures;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The fields of the dataclass `Fidelity`.
pub(super) fn figures(py: Python<'_>, figures: Figures) -> PyResult<Bound<'_, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("max_error", figures.max_error)?;
    out.set_item("rmse", figures.rmse)?;
    out.set_item("relative_rmse", figures.relative_rmse)?;
    out.set_item("cosine", figures.cosine)?;
    out.set_item("snr_db", figures.snr_db)?;
    out.set_item("exact", figures.exact)?;
    out.set_item("non_finite", figures.non_finite)?;
    out.set_item("non_finite_in_second", figures.non_finite_in_second)?;
    Ok(out)
}
