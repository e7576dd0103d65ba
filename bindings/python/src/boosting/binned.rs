//! Binned features and their targets.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use bitgrain::gbdt::Groups;
use bitgrain::gbdt::distributed::{self, Shard};
use bitgrain::gbdt::feature::{FeatureKind, Quantizer, Schema};
use bitgrain::gbdt::model::Model;
use bitgrain::gbdt::objective::{ClassWeights, class_weights};
use bitgrain::gbdt::table::{BinnedTable, BinnedTableError};
use bitgrain::gbdt::train::{Dataset, Targets};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;

use super::booster::Booster;
use super::columns::Categories;
use super::group::PythonGroup;
use super::groups::Queries;
use super::objective::FirstRaised;
use super::pool::{self, Jobs};
use super::settings::Settings;
use super::source::Source;
use crate::error::{Raised, Result};

/// Binned features and their targets.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct BinnedData {
    data: Mutex<State>,
    /// Notified when a training run returns the data.
    returned: Condvar,
    schema: Arc<Schema>,
    n_rows: usize,
    /// Model whose predictions are the initial scores.
    base: Option<Arc<Model>>,
}

/// Whereabouts of the data.
enum State {
    Here(Arc<Dataset>),
    /// A training run reorders the rows in place, and will restore their order.
    Lent,
    /// A training run consumed the data, or panicked while it had it.
    Gone,
}

/// Interval at which signals are checked while another training run has the data.
const PATIENCE: Duration = Duration::from_millis(50);

#[pymethods]
impl BinnedData {
    #[new]
    #[pyo3(signature = (
        features, targets, weights=None, *, queries=None, positions=None, names=None, categories=None, classes=None,
        class_weights=None, init_scores=None, settings=None, like=None, base=None, n_jobs=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        py: Python<'_>,
        features: Source<'_>,
        targets: TargetArray<'_>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        queries: Option<Queries<'_>>,
        positions: Option<PyReadonlyArray1<'_, u32>>,
        names: Option<Vec<String>>,
        categories: Option<Categories>,
        classes: Option<Vec<String>>,
        class_weights: Option<OfClasses>,
        init_scores: Option<PyReadonlyArray1<'_, f64>>,
        settings: Option<Settings>,
        like: Option<&Bound<'_, Self>>,
        base: Option<&Bound<'_, Booster>>,
        n_jobs: Option<Jobs>,
    ) -> Result<Self> {
        let raw = features.features()?;
        let n_rows = raw.n_rows();
        let targets = targets.copy()?;
        let weights =
            weights.map(|weights| weights.as_slice().map(<[f32]>::to_vec)).transpose().map_err(PyErr::from)?;
        let weights =
            class_weights.map_or(Ok(weights.clone()), |of_classes| of_classes.weigh(&targets.rounded(), weights))?;
        let mut groups = queries.map(|queries| queries.groups(n_rows)).transpose()?;
        if let Some(positions) = positions {
            let positions = positions.as_slice().map_err(PyErr::from)?;
            groups = groups.map(|groups| groups.with_positions(positions)).transpose()?;
        }
        let scores =
            init_scores.map(|scores| scores.as_slice().map(<[f64]>::to_vec)).transpose().map_err(PyErr::from)?;
        let base =
            base.map(|base| Arc::clone(&base.get().model)).or_else(|| like.and_then(|like| like.get().base.clone()));
        let quantizer = settings.map_or_else(|| Ok(Quantizer::default()), |settings| settings.quantizer())?;
        let schema = match like {
            Some(like) => Arc::clone(&like.get().schema),
            None => Arc::new(schema(names, categories, raw.n_features())?),
        };
        let raw = raw.with_schema(Arc::clone(&schema))?;
        let like = like.map(|like| like.get().shared(py)).transpose()?;
        let data = pool::detached(py, n_jobs, || {
            let data = match &like {
                Some(like) => like.like(&raw, targets, weights)?,
                None => Dataset::new(&raw, targets, weights, &quantizer)?.with_classes(classes.unwrap_or_default()),
            };
            let data = match groups {
                Some(groups) => data.with_groups(groups)?,
                None => data,
            };
            match (&base, scores) {
                (Some(model), None) => data.start_from(model, &raw),
                (_, Some(scores)) => data.with_init_scores(scores),
                (None, None) => Ok(data),
            }
        })??;
        Ok(Self { data: Mutex::new(State::Here(Arc::new(data))), returned: Condvar::new(), schema, n_rows, base })
    }

    /// Returns a subset of the rows, in the given order. The rows of a query must stay adjacent.
    fn rows(&self, py: Python<'_>, rows: PyReadonlyArray1<'_, usize>) -> Result<Self> {
        let rows = rows.as_slice().map_err(PyErr::from)?;
        if let Some(row) = rows.iter().find(|row| **row >= self.n_rows) {
            let n_rows = self.n_rows;
            return Err(Raised::input(format!("row {row} (0-based) is out of range: the data has {n_rows} rows")));
        }
        let data = self.shared(py)?;
        let subset = py.detach(|| data.rows(rows));
        let (schema, n_rows, base) = (Arc::clone(&self.schema), rows.len(), self.base.clone());
        Ok(Self { data: Mutex::new(State::Here(Arc::new(subset))), returned: Condvar::new(), schema, n_rows, base })
    }

    /// Bins the rows of a worker like all rows at once; `features` is `None` without rows.
    #[staticmethod]
    #[pyo3(signature = (
        group, features, targets, weights=None, *, queries=None, names=None, categories=None, classes=None,
        settings=None, base=None, n_jobs=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn shard(
        py: Python<'_>,
        group: &Bound<'_, PyAny>,
        features: Option<Source<'_>>,
        targets: TargetArray<'_>,
        weights: Option<PyReadonlyArray1<'_, f32>>,
        queries: Option<Queries<'_>>,
        names: Option<Vec<String>>,
        categories: Option<Categories>,
        classes: Option<Vec<String>>,
        settings: Option<Settings>,
        base: Option<&Bound<'_, Booster>>,
        n_jobs: Option<Jobs>,
    ) -> Result<Self> {
        let group = PythonGroup::new(group, FirstRaised::default())?;
        let raw = features.as_ref().map(Source::features).transpose()?;
        let raw = match raw {
            Some(raw) => {
                let schema = schema(names, categories, raw.n_features())?;
                Some(raw.with_schema(Arc::new(schema))?)
            }
            None => None,
        };
        let shard = match &raw {
            Some(raw) => {
                let weights = weights.map(|weights| weights.as_slice().map(<[f32]>::to_vec)).transpose();
                Shard::new(raw, targets.copy()?, weights.map_err(PyErr::from)?)
            }
            None => Shard::empty(),
        };
        let shard = shard.with_classes(classes.unwrap_or_default());
        let n_rows = raw.as_ref().map_or(0, bitgrain::gbdt::Features::n_rows);
        let shard = match queries.filter(|_| raw.is_some()) {
            Some(queries) => shard.with_groups(queries.groups(n_rows)?),
            None => shard,
        };
        let base = base.map(|base| Arc::clone(&base.get().model));
        let quantizer = settings.map_or_else(|| Ok(Quantizer::default()), |settings| settings.quantizer())?;
        let data = pool::alone(py, n_jobs, || {
            let data = distributed::dataset(&group, shard, &quantizer)?;
            match (&base, &raw) {
                (Some(model), Some(raw)) => data.start_from(model, raw),
                (Some(_), None) => Ok(data.start_without_rows()),
                (None, _) => Ok(data),
            }
        })??;
        let schema = Arc::clone(data.schema());
        Ok(Self { data: Mutex::new(State::Here(Arc::new(data))), returned: Condvar::new(), schema, n_rows, base })
    }

    /// Returns validation data without rows, for a worker that lacks them.
    fn without_rows(&self, py: Python<'_>) -> Result<Self> {
        let data = self.shared(py)?.without_rows();
        let (schema, base) = (Arc::clone(&self.schema), self.base.clone());
        Ok(Self { data: Mutex::new(State::Here(Arc::new(data))), returned: Condvar::new(), schema, n_rows: 0, base })
    }

    /// Opens a binned table; returns its data, the class labels and the objective. With `mapped`, the bins stay in the
    /// file; `memory` is the maximum resident memory of the process in bytes.
    #[staticmethod]
    #[pyo3(signature = (path, *, mapped=false, memory=None, n_jobs=None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        mapped: bool,
        memory: Option<usize>,
        n_jobs: Option<Jobs>,
    ) -> Result<(Self, Vec<String>, String)> {
        let opened = pool::detached(py, n_jobs, || {
            let table = BinnedTable::open(&path)?;
            let data = if mapped { table.dataset_mapped(memory) } else { table.dataset() }?;
            Ok::<_, BinnedTableError>((data, table.metadata().classes.clone(), table.metadata().objective.clone()))
        });
        let (data, classes, objective) = opened??;
        let (schema, n_rows) = (Arc::clone(data.schema()), data.n_rows());
        let data = Mutex::new(State::Here(Arc::new(data)));
        Ok((Self { data, returned: Condvar::new(), schema, n_rows, base: None }, classes, objective))
    }

    /// Returns the numbers of rows and features.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.n_rows, self.schema.n_features())
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.names().to_vec()
    }

    #[getter]
    fn categories(&self) -> Categories {
        let of = |feature: usize| match self.schema.kind(feature) {
            FeatureKind::Numeric => None,
            FeatureKind::Categorical => Some(self.schema.labels(feature).to_vec()),
        };
        (0..self.schema.n_features()).map(of).collect()
    }

    /// Resolves an objective name for these targets, or infers one, and returns its number of outputs.
    #[pyo3(signature = (name=None))]
    fn objective(&self, py: Python<'_>, name: Option<&str>) -> Result<(String, usize)> {
        let objective = self.shared(py)?.objective(name)?;
        Ok((objective.name(), objective.n_outputs()))
    }

    /// Returns the number of rows of each query, if there are queries.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyArray1<u64>>>> {
        let data = self.shared(py)?;
        let sizes = |groups: &Groups| -> Vec<u64> { groups.ranges().map(|rows| rows.len() as u64).collect() };
        Ok(data.groups().map(|groups| sizes(groups).into_pyarray(py)))
    }

    /// Returns the size of a row's bins in bytes.
    #[getter]
    fn bytes_per_row(&self, py: Python<'_>) -> Result<usize> {
        Ok(self.shared(py)?.bytes_per_row())
    }

    /// Returns the total number of bins.
    #[getter]
    fn n_bins(&self, py: Python<'_>) -> Result<u32> {
        Ok(self.shared(py)?.cuts().map().total_bins())
    }

    /// Returns the targets, rounded to the nearest f32.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f32>>> {
        Ok(self.shared(py)?.targets().to_pyarray(py))
    }

    /// Returns the upper bounds of a feature's bins, except for the last bin.
    fn cuts<'py>(&self, py: Python<'py>, feature: usize) -> Result<Bound<'py, PyArray1<f64>>> {
        let n_features = self.schema.n_features();
        if feature >= n_features {
            return Err(Raised::input(format!(
                "feature {feature} is out of range: the data has {n_features} features (0-based)"
            )));
        }
        Ok(self.shared(py)?.cuts().all_cuts(feature).into_pyarray(py))
    }
}

impl BinnedData {
    /// Returns the data, once no training run reorders its rows.
    pub(super) fn shared(&self, py: Python<'_>) -> Result<Arc<Dataset>> {
        self.when_here(py, |state| match state {
            State::Here(data) => Some(Arc::clone(data)),
            State::Lent | State::Gone => None,
        })
    }

    /// Takes the data out for good.
    pub(super) fn take(&self, py: Python<'_>) -> Result<Arc<Dataset>> {
        self.when_here(py, |state| match std::mem::replace(state, State::Gone) {
            State::Here(data) => Some(data),
            State::Lent | State::Gone => None,
        })
    }

    /// Lends the data to a training run that works in place. Returns `None` if it is in use elsewhere.
    pub(super) fn lend(&self, py: Python<'_>) -> Result<Option<Lent<'_>>> {
        self.when_here(py, |state| match std::mem::replace(state, State::Lent) {
            State::Here(data) => Some(match Arc::try_unwrap(data) {
                Ok(data) => Some(Lent { owner: self, data: Some(data) }),
                Err(shared) => {
                    *state = State::Here(shared);
                    None
                }
            }),
            State::Lent | State::Gone => None,
        })
    }

    /// Calls `work` when the data is not lent.
    fn when_here<T>(&self, py: Python<'_>, work: impl FnOnce(&mut State) -> Option<T>) -> Result<T> {
        loop {
            let mut state = self.data.lock().unwrap_or_else(PoisonError::into_inner);
            match &*state {
                State::Here(_) => {
                    let found = work(&mut state);
                    return found.ok_or_else(|| Raised::input("the data was consumed by a training run"));
                }
                State::Gone => return Err(Raised::input("the data was consumed by a training run")),
                State::Lent => {}
            }
            drop(state);
            py.detach(|| {
                let state = self.data.lock().unwrap_or_else(PoisonError::into_inner);
                if matches!(&*state, State::Lent) {
                    drop(self.returned.wait_timeout(state, PATIENCE));
                }
            });
            py.check_signals()?;
        }
    }

    pub(super) fn base(&self) -> Option<&Arc<Model>> {
        self.base.as_ref()
    }
}

/// Data that a training run works on in place; returned when dropped.
pub(super) struct Lent<'a> {
    owner: &'a BinnedData,
    /// `Some` until dropped.
    data: Option<Dataset>,
}

impl Lent<'_> {
    pub(super) fn data(&mut self) -> Option<&mut Dataset> {
        self.data.as_mut()
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // The rows are in an unknown order after a panic.
        let returned = self.data.take().filter(|_| !std::thread::panicking());
        let state = returned.map_or(State::Gone, |data| State::Here(Arc::new(data)));
        *self.owner.data.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.owner.returned.notify_all();
    }
}

/// Returns the schema of the features.
fn schema(names: Option<Vec<String>>, categories: Option<Categories>, n_features: usize) -> Result<Schema> {
    let mut schema = names.map_or_else(|| Ok(Schema::unnamed(n_features)), Schema::new)?;
    for (feature, labels) in categories.into_iter().flatten().enumerate() {
        if let Some(labels) = labels {
            schema = schema.with_labels(feature, labels)?;
        }
    }
    Ok(schema)
}

/// Targets in either precision.
#[derive(FromPyObject)]
enum TargetArray<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
}

impl TargetArray<'_> {
    fn copy(&self) -> Result<Targets> {
        match self {
            Self::F32(array) => Ok(array.as_slice().map_err(PyErr::from)?.to_vec().into()),
            Self::F64(array) => Ok(array.as_slice().map_err(PyErr::from)?.to_vec().into()),
        }
    }
}

/// Weight of each class.
#[derive(FromPyObject)]
enum OfClasses {
    Each(Vec<f32>),
    Name(String),
}

impl OfClasses {
    /// Returns the weight of each row, multiplied by the weight of its class.
    fn weigh(self, targets: &[f32], own: Option<Vec<f32>>) -> Result<Option<Vec<f32>>> {
        let of_classes = match self {
            Self::Each(weights) => ClassWeights::PerClass(weights),
            Self::Name(name) if name == "balanced" => ClassWeights::Balanced,
            Self::Name(name) => {
                return Err(Raised::input(format!("class_weight = '{name}': it must be 'balanced', weights, or None")));
            }
        };
        let mut weights = class_weights(targets, &of_classes)?;
        if let Some(own) = own {
            if own.len() != weights.len() {
                return Err(Raised::input(format!("{} weights for {} rows", own.len(), weights.len())));
            }
            weights.iter_mut().zip(own).for_each(|(weight, own)| *weight *= own);
        }
        Ok(Some(weights))
    }
}
