//! Measures written in Python.

use std::sync::OnceLock;

use bitgrain::gbdt::metric::{Evaluated, Metric, MetricError, by_name};
use bitgrain::gbdt::model::Link;
use bitgrain::gbdt::objective::Objective;
use numpy::ToPyArray;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::objective::FirstRaised;
use crate::error::{Raised, Result};

/// Metrics of two classes and of several, which go by one name in scikit-learn.
const OF_CLASSES: [(&str, &str); 2] = [("logloss", "multi_logloss"), ("error", "multi_error")];

/// A metric of the crate by its name, or one of Python's, for predictions of the objective.
pub(super) fn metric(
    given: &Bound<'_, PyAny>,
    objective: &dyn Objective,
    raised: &FirstRaised,
) -> Result<Box<dyn Metric>> {
    if let Ok(name) = given.cast::<PyString>() {
        return built_in(&name.to_string_lossy(), objective);
    }
    let (call, raised) = (given.clone().unbind(), raised.clone());
    Ok(Box::new(PythonMetric { call, raised, said: OnceLock::new() }))
}

/// A metric of the crate that suits the number of classes.
fn built_in(name: &str, objective: &dyn Objective) -> Result<Box<dyn Metric>> {
    let found = by_name(name)?;
    let (groups, found_name) = (objective.n_groups(), found.name());
    for (of_two, of_several) in OF_CLASSES {
        if groups > 1 && found_name == of_two {
            return Ok(by_name(of_several)?);
        }
        if groups == 1 && found_name == of_several && matches!(objective.link(), Link::Logistic { .. }) {
            return Ok(by_name(of_two)?);
        }
    }
    let of_several = OF_CLASSES.iter().any(|(_, of_several)| *of_several == found_name);
    let objective = objective.name();
    match (groups, of_several) {
        (1, true) => Err(Raised::input(format!(
            "metric `{name}` compares classes, but the objective is `{objective}`; use `rmse`"
        ))),
        (2.., false) => Err(Raised::input(format!(
            "metric `{name}` takes one prediction per row, but objective `{objective}` makes {groups}; use \
             `multi_logloss`, `multi_error` or a callable"
        ))),
        _ => Ok(found),
    }
}

/// A measure written in Python: `call(targets, weights, predictions) -> (name, value, higher is better)` on flat arrays.
struct PythonMetric {
    call: Py<PyAny>,
    /// Its name and whether more is better, once it said so.
    said: OnceLock<(String, bool)>,
    raised: FirstRaised,
}

impl PythonMetric {
    fn ask(&self, py: Python<'_>, data: &Evaluated<'_>) -> PyResult<f64> {
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

    fn evaluate(&self, data: &Evaluated<'_>) -> std::result::Result<f64, MetricError> {
        Python::attach(|py| self.ask(py, data)).map_err(|error| {
            self.raised.set(error);
            // Any error ends the training; the exception takes its place.
            MetricError::Empty
        })
    }
}
