//! Conversion of error figures to a dictionary.

use bitgrain::nn::model::compare::ErrorStats;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::record::record;

/// Returns the fields of the dataclass `Fidelity`.
pub(super) fn figures(py: Python<'_>, figures: ErrorStats) -> PyResult<Bound<'_, PyDict>> {
    Ok(record!(py, {
        max_error: figures.max_error,
        rmse: figures.rmse,
        relative_rmse: figures.relative_rmse,
        cosine: figures.cosine,
        snr_db: figures.snr_db,
        exact: figures.exact,
        non_finite: figures.non_finite,
        non_finite_in_second: figures.non_finite_in_second,
    }))
}
