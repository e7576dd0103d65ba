//! Leaf values from new rows.

use bitgrain::gbdt::objective::by_name;
use bitgrain::gbdt::train::{Refit, RefitData};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::booster::Booster;
use super::groups::Queries;
use super::objective::{FirstRaised, objective};
use super::pool::{self, Jobs};
use super::source::Source;
use crate::error::Result;

#[pymethods]
impl Booster {
    /// Returns a copy with the leaf values fitted to some rows.
    #[pyo3(signature = (features, targets, weights=None, queries=None, *, objective=None, decay_rate,
        learning_rate=None, reg_alpha=0.0, reg_lambda=0.0, max_delta_step=0.0, n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn refit<'py>(
        &self,
        py: Python<'py>,
        features: Source<'py>,
        targets: PyReadonlyArray1<'py, f64>,
        weights: Option<PyReadonlyArray1<'py, f32>>,
        queries: Option<Queries<'py>>,
        objective: Option<Bound<'py, PyAny>>,
        decay_rate: f64,
        learning_rate: Option<f64>,
        reg_alpha: f64,
        reg_lambda: f64,
        max_delta_step: f64,
        n_jobs: Option<Jobs>,
    ) -> Result<Self> {
        let raised = FirstRaised::default();
        let objective = match &objective {
            Some(given) => self::objective(given, &raised)?,
            None => by_name(&self.model.output.objective)?,
        };
        let rows = features.features()?;
        let targets = targets.as_slice().map_err(PyErr::from)?.to_vec();
        let groups = queries.map(|queries| queries.groups(targets.len())).transpose()?;
        let weights = weights.as_ref().map(|weights| weights.as_slice().map_err(PyErr::from)).transpose()?;
        let weights = weights.map(<[f32]>::to_vec);
        let refit = Refit { decay_rate, learning_rate, reg_alpha, reg_lambda, max_delta_step };
        let data = RefitData { features: &rows, targets: targets.into(), weights, groups };
        let refitted = pool::detached(py, n_jobs, || refit.run(&self.model, objective, data))?;
        // The exception of an objective written in Python replaces the error that it caused.
        match raised.take() {
            Some(error) => Err(error.into()),
            None => Self::new(refitted?),
        }
    }
}
