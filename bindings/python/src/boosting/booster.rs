//! Models: prediction, files, and what is known of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bitgrain::gbdt::feature::Features;
use bitgrain::gbdt::model::{Comparison, Importance, InputKind, Model};
use bitgrain::gbdt::predict::{PredictError, Predictor};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::columns::Categories;
use super::pool::{self, Jobs};
use super::source::Source;
use crate::error::{Raised, Result};

/// Rows up to which nobody else need run meanwhile: handing them over would take longer than the work.
const FEW: usize = 24;

/// A model and what makes it fast.
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
}

#[pymethods]
impl Booster {
    /// Reads a model of whichever kind: bitgrain's, LightGBM's text, XGBoost's JSON or UBJSON.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> Result<Self> {
        py.detach(|| Self::new(Model::import(bytes)?))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> Result<Self> {
        py.detach(|| Self::new(Model::load(path)?))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        py.detach(|| Ok(self.model.save(path)?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.model.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| self.model.to_json())
    }

    /// `prediction` after the link, `raw` before, a `probability` for each class, the place of the likeliest `class`, or
    /// the `leaf` of each tree; of the first rounds only if asked for.
    #[pyo3(signature = (features, kind="prediction", *, rounds=None, n_jobs=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        features: Source<'py>,
        kind: &str,
        rounds: Option<usize>,
        n_jobs: Option<Jobs>,
    ) -> Result<Bound<'py, PyAny>> {
        let fewer = rounds.map(|rounds| self.predictor.clone().with_rounds(rounds));
        let predictor = fewer.as_ref().unwrap_or(&self.predictor);
        let work = Work { py, n_jobs, features: &features };
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
                Some(row) => work.shaped(vec![predictor.row_choice(&row)?], 1),
                None => work.shaped(work.done(|raw| predictor.choices(raw))?, 1),
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

    /// How much the trees use each feature: the `gain` of its splits, or their number: `split`.
    fn importance<'py>(&self, py: Python<'py>, kind: &str) -> Result<Bound<'py, PyArray1<f64>>> {
        let importance = match kind {
            "gain" => Importance::Gain,
            "split" => Importance::Split,
            other => return Err(Raised::input(format!("importance '{other}': it must be 'gain' or 'split'"))),
        };
        Ok(self.model.feature_importance(importance).into_pyarray(py))
    }

    /// The model after its first rounds.
    fn truncated(&self, rounds: usize) -> Result<Self> {
        Self::new(self.model.truncated(rounds))
    }

    /// The same model with other classes, if any are given, and more to say.
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

    /// For each feature `None` for numbers, the texts of the codes for categories.
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

    /// Whether predictions are probabilities of classes that add up to 1.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.output.has_probabilities()
    }

    /// Whether rows have a class.
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

    /// Scores of a row.
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

    /// Whether values are compared as f64.
    #[getter]
    fn wide(&self) -> bool {
        self.model.comparison == Comparison::F64
    }

    /// The model in one line.
    fn __str__(&self) -> String {
        self.model.to_string()
    }
}

/// Rows to predict, and where.
struct Work<'a, 'py> {
    py: Python<'py>,
    n_jobs: Option<Jobs>,
    features: &'a Source<'py>,
}

impl<'py> Work<'_, 'py> {
    /// Predictions of all rows, while Python runs on.
    fn done<T: Send>(
        &self,
        predict: impl Fn(&Features<'_>) -> std::result::Result<Vec<T>, PredictError> + Sync,
    ) -> Result<Vec<T>> {
        let raw = self.features.features()?;
        let few = self.features.n_rows() < FEW;
        Ok(if few { predict(&raw)? } else { pool::detached(self.py, self.n_jobs, || predict(&raw))?? })
    }

    /// As Python gets them: rows of some columns, or one number for each row.
    fn shaped<T: numpy::Element>(&self, values: Vec<T>, columns: usize) -> Result<Bound<'py, PyAny>> {
        let flat = values.into_pyarray(self.py);
        if columns == 1 {
            return Ok(flat.into_any());
        }
        Ok(flat.reshape([self.features.n_rows(), columns])?.into_any())
    }
}
