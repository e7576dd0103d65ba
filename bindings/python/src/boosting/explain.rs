//! Explanations of models: partial dependence, permutation importance and the HTML report.

use std::path::PathBuf;

use bitgrain::files::PartFile;
use bitgrain::gbdt::explain::{PartialGrid, PartialOptions, feature_index, partial_dependence};
use bitgrain::gbdt::metric::{self, Metric};
use bitgrain::gbdt::predict::{EvaluationData, permutation_importance};
use bitgrain::gbdt::report::{Curve, TrainingReport};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::booster::Booster;
use super::metric::PythonMetric;
use super::objective::FirstRaised;
use super::pool::{self, Jobs};
use super::source::Source;
use crate::error::{Raised, Result};

/// Values of each grid, mean predictions, and predictions of each row if requested.
type Dependence<'py> = (Vec<Bound<'py, PyArray1<f64>>>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

#[pymethods]
impl Booster {
    /// Returns the index of a feature by name.
    fn feature_index(&self, name: &str) -> Result<usize> {
        Ok(feature_index(&self.model, name)?)
    }

    /// Returns the grids of one or two features, the mean prediction at each point (output-major), and the prediction of
    /// each row at each point if `individual`.
    #[pyo3(signature = (features, of, *, values=None, grid_size, percentiles, raw=false, individual=false,
        centered=false, n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn partial_dependence<'py>(
        &self,
        py: Python<'py>,
        features: Source<'py>,
        of: Vec<usize>,
        values: Option<Vec<Vec<f64>>>,
        grid_size: usize,
        percentiles: (f64, f64),
        raw: bool,
        individual: bool,
        centered: bool,
        n_jobs: Option<Jobs>,
    ) -> Result<Dependence<'py>> {
        let rows = features.features()?;
        let options = PartialOptions { grid: PartialGrid { size: grid_size, percentiles }, values, raw, individual };
        let mut found = pool::detached(py, n_jobs, || partial_dependence(&self.model, &rows, &of, &options))??;
        if centered {
            found.center();
        }
        let lengths: Vec<usize> = found.grids.iter().map(Vec::len).collect();
        let shape = |middle: Option<usize>| -> Vec<usize> {
            [found.n_outputs].into_iter().chain(middle).chain(lengths.iter().copied()).collect()
        };
        let mean = found.mean.into_pyarray(py).reshape(shape(None))?.into_any();
        let individual = match individual {
            true => Some(found.individual.into_pyarray(py).reshape(shape(Some(found.n_rows)))?.into_any()),
            false => None,
        };
        Ok((found.grids.into_iter().map(|grid| grid.into_pyarray(py)).collect(), mean, individual))
    }

    /// Returns the name of the metric, its value on the unshuffled rows, and its deterioration per feature and repeat.
    #[pyo3(signature = (features, targets, weights=None, *, metric=None, repeats=5, seed=0, n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn permutation_importance<'py>(
        &self,
        py: Python<'py>,
        features: Source<'py>,
        targets: PyReadonlyArray1<'py, f64>,
        weights: Option<PyReadonlyArray1<'py, f32>>,
        metric: Option<Bound<'py, PyAny>>,
        repeats: usize,
        seed: u64,
        n_jobs: Option<Jobs>,
    ) -> Result<(String, f64, Bound<'py, PyArray2<f64>>)> {
        let raised = FirstRaised::default();
        let metric = self.metric(metric.as_ref(), &raised)?;
        let rows = features.features()?;
        let targets = targets.as_slice().map_err(PyErr::from)?;
        let weights = weights.as_ref().map(|weights| weights.as_slice().map_err(PyErr::from)).transpose()?;
        let data = EvaluationData { features: &rows, targets, weights };
        let measured =
            pool::detached(py, n_jobs, || permutation_importance(&self.model, &data, &*metric, repeats, seed))?;
        // The exception of a metric written in Python replaces the error that it caused.
        if let Some(error) = raised.take() {
            return Err(error.into());
        }
        let report = measured?;
        let losses: Vec<f64> = report.features.iter().flat_map(|feature| feature.losses.iter().copied()).collect();
        let losses = losses.into_pyarray(py).reshape([report.features.len(), repeats])?;
        Ok((metric.name(), report.baseline, losses))
    }

    /// Writes the HTML report of a training. `curves` are the names of a dataset and a metric with a value per round.
    #[pyo3(signature = (path, train, valid=None, *, title, curves, best_round=None, n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn report<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        train: Held<'py>,
        valid: Option<Held<'py>>,
        title: &str,
        curves: Vec<(String, String, Vec<f64>)>,
        best_round: Option<usize>,
        n_jobs: Option<Jobs>,
    ) -> Result<()> {
        let curve = |(data, metric, values)| Curve { data, metric, values };
        let curves: Vec<Curve> = curves.into_iter().map(curve).collect();
        let held = [Some(&train), valid.as_ref()];
        let features = held.into_iter().flatten().map(|held| held.0.features()).collect::<Result<Vec<_>>>()?;
        let mut data = Vec::new();
        for (held, features) in held.into_iter().flatten().zip(&features) {
            let targets = held.1.as_slice().map_err(PyErr::from)?;
            let weights = held.2.as_ref().map(|weights| weights.as_slice().map_err(PyErr::from)).transpose()?;
            data.push(EvaluationData { features, targets, weights });
        }
        let (model, facts) = (&*self.model, &[][..]);
        let report = TrainingReport {
            title,
            model,
            curves: &curves,
            best_round,
            train: data[0],
            valid: data.get(1).copied(),
            facts,
        };
        pool::detached(py, n_jobs, || -> Result<()> {
            let page = report.html()?;
            PartFile::write_atomic(&path, page.as_bytes()).map_err(|error| Raised::file(&path, &error))
        })?
    }
}

/// Features, targets and weights of a dataset.
type Held<'py> = (Source<'py>, PyReadonlyArray1<'py, f64>, Option<PyReadonlyArray1<'py, f32>>);

impl Booster {
    /// Returns the model's default metric, a built-in metric by name, or a metric written in Python.
    fn metric(&self, given: Option<&Bound<'_, PyAny>>, raised: &FirstRaised) -> Result<Box<dyn Metric>> {
        let Some(given) = given else { return Ok(metric::for_model(None, &self.model)?) };
        match given.cast::<PyString>() {
            Ok(name) => Ok(metric::for_model(Some(&name.to_string_lossy()), &self.model)?),
            Err(_) => Ok(Box::new(PythonMetric::new(given, raised))),
        }
    }
}
