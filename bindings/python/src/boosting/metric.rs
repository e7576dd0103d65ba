//! Metrics written in Python.

use std::sync::OnceLock;

use bitgrain::gbdt::metric::{Metric, MetricError, MetricInput, by_name_for};
use bitgrain::gbdt::objective::Objective;
use numpy::ToPyArray;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::objective::FirstRaised;
use crate::error::Result;

/// Returns a built-in metric by name, or wraps a Python metric, for predictions of the objective.
pub(super) fn metric(
    given: &Bound<'_, PyAny>,
    objective: &dyn Objective,
    raised: &FirstRaised,
) -> Result<Box<dyn Metric>> {
    if let Ok(name) = given.cast::<PyString>() {
        return Ok(by_name_for(&name.to_string_lossy(), objective)?);
    }
    let (call, raised) = (given.clone().unbind(), raised.clone());
    Ok(Box::new(PythonMetric { call, raised, said: OnceLock::new() }))
}

/// A metric written in Python: `call(targets, weights, predictions) -> (name, value, higher_is_better)` on flat arrays.
struct PythonMetric {
    call: Py<PyAny>,
    /// Name and `higher_is_better`, known after the first call.
    said: OnceLock<(String, bool)>,
    raised: FirstRaised,
}

impl PythonMetric {
    fn ask(&self, py: Python<'_>, data: &MetricInput<'_>) -> PyResult<f64> {
        let weights = data.weights.map(|weights| weights.to_pyarray(py));
        let arguments = (data.targets.to_pyarray(py), weights, data.predictions.to_pyarray(py));
        let (name, value, higher): (String, f64, bool) = self.call.bind(py).call1(arguments)?.extract()?;
        self.said.get_or_init(|| (name, higher));
        Ok(value)
    }
}

impl Metric for PythonMetric {
    fn name(&self) -> String {
        self.said.get().map_or_else(|| "custom".to_owned(), |(name, _)| name.clone())
    }

    fn higher_is_better(&self) -> bool {
        self.said.get().is_some_and(|(_, higher)| *higher)
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> std::result::Result<f64, MetricError> {
        Python::attach(|py| self.ask(py, data)).map_err(|error| {
            self.raised.set(error);
            // Any error stops the training; the Python exception replaces it.
            MetricError::Empty
        })
    }
}
