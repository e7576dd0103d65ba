//! Models: prediction, files and metadata.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bitgrain::gbdt::explain::{ExplainError, Explainer};
use bitgrain::gbdt::feature::Features;
use bitgrain::gbdt::model::{Comparison, Importance, InputKind, Model, ModelFormat, TreeArrays};
use bitgrain::gbdt::predict::{PredictError, Predictor};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::columns::Categories;
use super::pool::{self, Jobs};
use super::source::Source;
use crate::error::{Raised, Result};

/// A model and its predictor.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct Booster {
    pub(super) model: Arc<Model>,
    predictor: Predictor,
}

impl Booster {
    pub(super) fn new(model: Model) -> Result<Self> {
        let predictor = Predictor::new(&model)?;
        Ok(Self { model: Arc::new(model), predictor })
    }

    fn sliced(&self, start: usize, rounds: Option<usize>) -> Model {
        self.model.slice(start..rounds.map_or(usize::MAX, |rounds| start.saturating_add(rounds)))
    }
}

#[pymethods]
impl Booster {
    /// Reads a model file: bitgrain's own format or its JSON, LightGBM's text format, or XGBoost's JSON or UBJSON.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Self> {
        py.detach(|| Self::new(Model::import(bytes)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> Result<Self> {
        py.detach(|| Self::new(Model::load(path)?))
    }

    /// Writes the model in a format, or in the one that the file extension selects.
    #[pyo3(signature = (path, format=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> Result<()> {
        let format = format.map(str::parse).transpose()?.unwrap_or_else(|| ModelFormat::of_path(&path));
        py.detach(|| Ok(self.model.save_as(path, format)?))
    }

    /// Returns the bytes of the model in a format.
    fn export<'py>(&self, py: Python<'py>, format: &str) -> Result<Bound<'py, PyBytes>> {
        let format: ModelFormat = format.parse()?;
        let bytes = py.detach(|| self.model.export(format))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.model.to_json())
    }

    /// Returns the nodes of each tree as arrays by name, as shap stores trees.
    fn tree_arrays<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyDict>>> {
        let trees = py.detach(|| self.model.tree_arrays())?;
        let convert = |tree: TreeArrays| {
            let arrays = PyDict::new(py);
            arrays.set_item("children_left", tree.left.into_pyarray(py))?;
            arrays.set_item("children_right", tree.right.into_pyarray(py))?;
            arrays.set_item("children_default", tree.missing.into_pyarray(py))?;
            arrays.set_item("features", tree.features.into_pyarray(py))?;
            arrays.set_item("thresholds", tree.thresholds.into_pyarray(py))?;
            arrays.set_item("values", tree.values.into_pyarray(py))?;
            arrays.set_item("node_sample_weight", tree.weights.into_pyarray(py))?;
            Ok(arrays)
        };
        trees.into_iter().map(convert).collect()
    }

    /// Predicts by `kind`: `prediction` (after the link), `raw` (before the link), `probability` of each class, index
    /// of the most probable `class`, or `leaf` index in each tree; with `rounds` rounds from the 0-based round `start` on
    /// if given.
    #[pyo3(signature = (features, kind="prediction", *, start=0, rounds=None, n_jobs=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: Source<'py>,
        kind: &str,
        start: usize,
        rounds: Option<usize>,
        n_jobs: Option<Jobs>,
    ) -> Result<Bound<'py, PyAny>> {
        let fewer = match (start, rounds) {
            (0, None) => None,
            (0, Some(rounds)) => Some(self.predictor.clone().with_rounds(rounds)),
            _ => Some(Predictor::new(&self.sliced(start, rounds))?),
        };
        let predictor = fewer.as_ref().unwrap_or(&self.predictor);
        let work = Work { py, n_jobs, features: &features, small: predictor.is_small(features.n_rows()) };
        let outputs = predictor.n_outputs();
        match kind {
            "prediction" | "raw" => {
                if let Some(row) = features.single_row() {
                    let mut out = vec![0.0; outputs];
                    if kind == "raw" {
                        predictor.row_raw(&row, &mut out)?
                    } else {
                        predictor.row(&row, &mut out)?
                    }
                    return work.shaped(out, outputs);
                }
                let of = |raw: &Features<'_>| if kind == "raw" { predictor.raw(raw) } else { predictor.predict(raw) };
                work.shaped(work.done(of)?, outputs)
            }
            "probability" => {
                let classes = predictor.n_classes();
                let Some(row) = features.single_row() else {
                    return work.shaped(work.done(|raw| predictor.probabilities(raw))?, classes);
                };
                let mut out = vec![0.0; classes];
                predictor.row_probabilities(&row, &mut out)?;
                work.shaped(out, classes)
            }
            "class" => match features.single_row() {
                Some(row) => work.shaped(vec![predictor.row_class_index(&row)?], 1),
                None => work.shaped(work.done(|raw| predictor.class_indices(raw))?, 1),
            },
            "leaf" => {
                let leaves = work.done(|raw| predictor.leaves(raw))?.into_pyarray(py);
                Ok(leaves.reshape([features.n_rows(), predictor.n_trees()])?.into_any())
            }
            _ => {
                let known = "'prediction', 'raw', 'probability', 'class' or 'leaf'";
                Err(Raised::input(format!("kind = '{kind}': it must be {known}")))
            }
        }
    }

    /// Returns SHAP values: one value per feature and the expected score, or a square matrix of `interactions`, for each
    /// row and output. Interventional if `background` rows are given, otherwise path-dependent.
    #[pyo3(signature = (features, *, interactions=false, background=None, start=0, rounds=None, n_jobs=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        features: Source<'py>,
        interactions: bool,
        background: Option<Source<'py>>,
        start: usize,
        rounds: Option<usize>,
        n_jobs: Option<Jobs>,
    ) -> Result<Bound<'py, PyAny>> {
        let fewer = (start > 0 || rounds.is_some()).then(|| self.sliced(start, rounds));
        let model = fewer.as_ref().unwrap_or(&self.model);
        let rows = features.features()?;
        let background = background.as_ref().map(Source::features).transpose()?;
        let explain = || -> std::result::Result<(usize, Vec<f64>), ExplainError> {
            let explainer = match &background {
                Some(background) => Explainer::with_background(model, background)?,
                None => Explainer::new(model)?,
            };
            let values = if interactions { explainer.interactions(&rows)? } else { explainer.contributions(&rows)? };
            Ok((explainer.n_values(), values))
        };
        let (n_values, values) = pool::detached(py, n_jobs, explain)??;
        let mut shape = vec![features.n_rows()];
        // As in predictions, a model of one output has no axis for it.
        shape.extend((model.n_outputs() > 1).then_some(model.n_outputs()));
        shape.resize(shape.len() + if interactions { 2 } else { 1 }, n_values);
        Ok(values.into_pyarray(py).reshape(shape)?.into_any())
    }

    /// Returns the importance of each feature: the total `gain` of its splits, or their number (`split`).
    fn importance<'py>(&self, py: Python<'py>, kind: &str) -> Result<Bound<'py, PyArray1<f64>>> {
        let importance = match kind {
            "gain" => Importance::Gain,
            "split" => Importance::Split,
            other => return Err(Raised::input(format!("importance '{other}': it must be 'gain' or 'split'"))),
        };
        Ok(self.model.feature_importance(importance).into_pyarray(py))
    }

    /// Returns the model of `rounds` rounds, or of all, from the 0-based round `start` on. Base scores belong to the first
    /// round.
    #[pyo3(signature = (rounds=None, start=0))]
    fn truncated(&self, rounds: Option<usize>, start: usize) -> Result<Self> {
        Self::new(self.sliced(start, rounds))
    }

    /// Returns the same model with further metadata and, if given, other class labels.
    #[pyo3(signature = (classes=None, metadata=None))]
    fn annotated(&self, classes: Option<Vec<String>>, metadata: Option<BTreeMap<String, String>>) -> Result<Self> {
        let mut model = (*self.model).clone();
        if let Some(classes) = classes {
            model.output.classes = classes;
        }
        model.metadata.extend(metadata.unwrap_or_default());
        model.check()?;
        Ok(Self { model: Arc::new(model), predictor: self.predictor.clone() })
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.model.inputs.iter().map(|input| input.name.clone()).collect()
    }

    /// Returns, for each feature, `None` if numeric or the category of each code.
    #[getter]
    fn categories(&self) -> Categories {
        let of = |kind: &InputKind| match kind {
            InputKind::Numeric => None,
            InputKind::Categorical { labels, .. } => Some(labels.clone()),
        };
        self.model.inputs.iter().map(|input| of(&input.kind)).collect()
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.output.classes.clone()
    }

    #[getter]
    fn objective(&self) -> String {
        self.model.output.objective.clone()
    }

    #[getter]
    fn link(&self) -> &'static str {
        self.model.output.link.name()
    }

    /// Returns whether predictions are class probabilities that sum to 1.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.output.has_probabilities()
    }

    /// Returns whether the model predicts classes.
    #[getter]
    fn is_classifier(&self) -> bool {
        self.model.output.is_classifier()
    }

    #[getter]
    fn base_scores(&self) -> Vec<f64> {
        self.model.output.base_scores.clone()
    }

    #[getter]
    fn metadata(&self) -> BTreeMap<String, String> {
        self.model.metadata.clone()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.model.n_inputs()
    }

    /// Returns the number of scores per row.
    #[getter]
    fn n_outputs(&self) -> usize {
        self.model.n_outputs()
    }

    #[getter]
    fn n_rounds(&self) -> usize {
        self.model.n_rounds()
    }

    #[getter]
    fn n_trees(&self) -> usize {
        self.model.trees.len()
    }

    /// Returns whether thresholds need f64.
    #[getter]
    fn wide(&self) -> bool {
        self.model.comparison == Comparison::F64
    }

    /// Returns a one-line description.
    fn __str__(&self) -> String {
        self.model.to_string()
    }
}

/// Rows to predict and the pool to use.
struct Work<'a, 'py> {
    py: Python<'py>,
    n_jobs: Option<Jobs>,
    features: &'a Source<'py>,
    /// Whether the rows are predicted on this thread.
    small: bool,
}

impl<'py> Work<'_, 'py> {
    /// Predicts all rows without the GIL.
    fn done<T: Send>(
        &self,
        predict: impl Fn(&Features<'_>) -> std::result::Result<Vec<T>, PredictError> + Sync,
    ) -> Result<Vec<T>> {
        let raw = self.features.features()?;
        if self.small {
            pool::check(self.n_jobs)?;
            return Ok(self.py.detach(|| predict(&raw))?);
        }
        pool::detached(self.py, self.n_jobs, || predict(&raw))?.map_err(Into::into)
    }

    /// Converts predictions to an array: 2-D if `columns` is above 1, otherwise 1-D.
    fn shaped<T: numpy::Element>(&self, values: Vec<T>, columns: usize) -> Result<Bound<'py, PyAny>> {
        let flat = values.into_pyarray(self.py);
        if columns == 1 {
            return Ok(flat.into_any());
        }
        Ok(flat.reshape([self.features.n_rows(), columns])?.into_any())
    }
}
