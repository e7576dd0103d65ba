//! Metrics written in Python.

use std::sync::OnceLock;

use bitgrain::gbdt::metric::{Metric, MetricError, MetricInput, by_name_for, default_for};
use bitgrain::gbdt::objective::{Objective, by_name};
use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::groups::Queries;
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
    Ok(Box::new(PythonMetric::new(given, raised)))
}

/// Returns the name of each built-in metric for predictions of an objective, and whether larger values are better; of the
/// objective's own metric by default.
#[pyfunction]
#[pyo3(signature = (objective, metrics=None))]
pub(crate) fn describe_metrics(objective: &str, metrics: Option<Vec<String>>) -> Result<Vec<(String, bool)>> {
    let objective = by_name(objective)?;
    let found: Vec<Box<dyn Metric>> = match metrics {
        Some(names) => names.iter().map(|name| Ok(by_name_for(name, &*objective)?)).collect::<Result<_>>()?,
        None => vec![default_for(&*objective)],
    };
    Ok(found.iter().map(|metric| (metric.name(), metric.higher_is_better())).collect())
}

/// Evaluates a built-in metric for predictions of an objective; all rows of an output come before the next.
#[pyfunction]
#[pyo3(signature = (objective, metric, targets, predictions, weights=None, queries=None))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub(crate) fn evaluate_metric(
    objective: &str,
    metric: &str,
    targets: PyReadonlyArray1<'_, f64>,
    predictions: PyReadonlyArray1<'_, f64>,
    weights: Option<PyReadonlyArray1<'_, f32>>,
    queries: Option<Queries<'_>>,
) -> Result<f64> {
    let metric = by_name_for(metric, &*by_name(objective)?)?;
    let targets = targets.as_slice().map_err(PyErr::from)?;
    let groups = queries.map(|queries| queries.groups(targets.len())).transpose()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(PyErr::from)?;
    let predictions = predictions.as_slice().map_err(PyErr::from)?;
    Ok(metric.evaluate(&MetricInput { targets, weights, predictions, groups: groups.as_ref() })?)
}

/// A metric written in Python: `call(targets, weights, predictions) -> (name, value, higher_is_better)` on flat arrays.
pub(super) struct PythonMetric {
    call: Py<PyAny>,
    /// Name and `higher_is_better`, known after the first call.
    said: OnceLock<(String, bool)>,
    raised: FirstRaised,
}

impl PythonMetric {
    pub(super) fn new(given: &Bound<'_, PyAny>, raised: &FirstRaised) -> Self {
        Self { call: given.clone().unbind(), raised: raised.clone(), said: OnceLock::new() }
    }

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
