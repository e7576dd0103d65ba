//! Objectives written in Python.

use std::sync::{Arc, Mutex, PoisonError};

use bitgrain::gbdt::model::Link;
use bitgrain::gbdt::objective::{
    Batch, GradientBatch, Objective, ObjectiveError, ObjectiveKind, TargetKind, by_name, check_finite, infer, kind_of,
};
use numpy::{IntoPyArray, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::{Raised, Result};

/// First exception raised by a user-defined callable. It stops the training and is then raised to the caller.
#[derive(Debug, Clone, Default)]
pub(super) struct FirstRaised(Arc<Mutex<Option<PyErr>>>);

impl FirstRaised {
    pub(super) fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns the exception as text: its type and message.
    pub(super) fn text(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(ToString::to_string)
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    pub(super) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns a built-in objective by name, or wraps a Python objective.
pub(super) fn objective(given: &Bound<'_, PyAny>, raised: &FirstRaised) -> Result<Box<dyn Objective>> {
    if let Ok(name) = given.cast::<PyString>() {
        return Ok(by_name(&name.to_string_lossy())?);
    }
    Ok(Box::new(PythonLoss::new(given, raised)?))
}

/// Returns the name of the objective for a number of classes, and its number of outputs.
#[pyfunction]
#[pyo3(signature = (name, classes))]
pub(crate) fn infer_objective(name: Option<&str>, classes: usize) -> Result<(String, usize)> {
    let objective = infer(name, TargetKind::Classes(classes))?;
    Ok((objective.name(), objective.n_outputs()))
}

/// Returns the task of an objective: `regression`, `binary`, `multiclass` or `ranking`.
#[pyfunction]
pub(crate) fn objective_kind(name: &str) -> Result<&'static str> {
    Ok(match kind_of(name)? {
        ObjectiveKind::Regression => "regression",
        ObjectiveKind::Binary => "binary",
        ObjectiveKind::Multiclass => "multiclass",
        ObjectiveKind::Ranking => "ranking",
    })
}

/// An objective written in Python: `call(targets, weights, scores) -> (gradients, hessians)` on flat arrays, one output
/// after the other.
struct PythonLoss {
    call: Py<PyAny>,
    name: String,
    outputs: usize,
    link: Link,
    /// Whether the callable applies the weights itself.
    weighs: bool,
    raised: FirstRaised,
}

impl PythonLoss {
    fn new(given: &Bound<'_, PyAny>, raised: &FirstRaised) -> Result<Self> {
        let link: String = given.getattr("link")?.extract()?;
        let link = match link.as_str() {
            "identity" => Link::Identity,
            "logistic" => Link::Logistic { slope: 1.0 },
            "softmax" => Link::Softmax,
            "exponential" => Link::Exponential,
            other => {
                let known = "'identity', 'logistic', 'softmax' or 'exponential'";
                return Err(Raised::input(format!("link = '{other}': it must be {known}")));
            }
        };
        Ok(Self {
            name: given.getattr("name")?.extract()?,
            outputs: given.getattr("outputs")?.extract()?,
            call: given.clone().unbind(),
            link,
            weighs: given.getattr("weighs")?.extract()?,
            raised: raised.clone(),
        })
    }

    fn ask(&self, py: Python<'_>, batch: &Batch<'_>, out: &mut GradientBatch<'_>) -> PyResult<()> {
        let scores: Vec<f64> =
            batch.scores.iter().flat_map(|output| output.iter().map(|&score| f64::from(score))).collect();
        let weights = batch.weights.map(|weights| weights.to_pyarray(py));
        let arguments = (batch.targets.to_pyarray(py), weights, scores.into_pyarray(py));
        let (grads, hess): (PyReadonlyArray1<'_, f32>, PyReadonlyArray1<'_, f32>) =
            self.call.bind(py).call1(arguments)?.extract()?;
        for (flat, outputs) in [(grads, &mut out.grads), (hess, &mut out.hess)] {
            let flat = flat.as_slice()?;
            let expected: usize = outputs.iter().map(|output| output.len()).sum();
            if flat.len() != expected {
                let found = flat.len();
                return Err(
                    Raised::input(format!("the objective returned {found} numbers; expected {expected}")).into()
                );
            }
            let mut rest = flat;
            for output in outputs.iter_mut() {
                let (here, behind) = rest.split_at(output.len());
                output.copy_from_slice(here);
                rest = behind;
            }
        }
        if !self.weighs {
            out.apply_weights(batch.weights);
        }
        Ok(())
    }
}

impl Objective for PythonLoss {
    fn name(&self) -> String {
        format!("custom:{}", self.name)
    }

    fn link(&self) -> Link {
        self.link
    }

    fn n_outputs(&self) -> usize {
        self.outputs
    }

    fn check(&self, targets: &[f32]) -> std::result::Result<(), ObjectiveError> {
        check_finite(targets, || self.name.clone())
    }

    fn base_scores(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Vec<f64> {
        vec![0.0; self.outputs]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        if !self.raised.is_set() {
            match Python::attach(|py| self.ask(py, batch, out)) {
                Ok(()) => return,
                Err(error) => self.raised.set(error),
            }
        }
        // NaN gradients make the training stop with an error.
        out.grads.iter_mut().for_each(|output| output.fill(f32::NAN));
    }

    /// Returns true, so that Python code sees all rows in one call.
    fn needs_all_rows(&self) -> bool {
        true
    }
}
