//! An open store.

use std::path::PathBuf;
use std::sync::Arc;

use bitgrain::store::reconstruct::Reconstruction;
use bitgrain::store::{CompactOptions, StoreError, TensorStore};
use numpy::{PyReadonlyArray2, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::batch::StoreBatch;
use super::error::not_opened;
use super::handle::Handle;
use super::id::Id;
use super::reading::reading;
use super::recipe::Recipe;
use super::report::{Compacted, Cost, Counts, FrameFacts, Known, Planned, Recovered, Synced, Ticked, Verified};
use super::search::{Answers, SearchSettings};
use super::settings::{OpenSettings, PutSettings, dependents, tier};
use super::snapshot::StoreSnapshot;
use super::values::{Frames, Read, Stacked, tensor};
use crate::error::{Raised, Result};
use crate::process;

/// Native part of a `TensorStore`.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct Store {
    handle: Arc<Handle<TensorStore>>,
}

reading!(Store, TensorStore);

#[pymethods]
impl Store {
    /// Opens a store. Mode `r` is read-only, `r+` writes to an existing store, `a` also creates it.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, mode: &str, settings: OpenSettings) -> Result<Self> {
        let (writable, create) = match mode {
            "r" => (false, false),
            "r+" => (true, false),
            "a" => (true, true),
            _ => return Err(Raised::input(format_args!("mode is {mode:?}; it must be one of \"r\", \"r+\", \"a\""))),
        };
        let config = settings.config(create)?;
        let opened = py.detach(|| {
            process::run(|| match writable {
                true => TensorStore::open(&path, config),
                false => TensorStore::open_read_only_with(&path, config),
            })
        });
        let store = opened.map_err(|error| not_opened(&path, error))?;
        Ok(Self { handle: Arc::new(Handle::store(store, writable)) })
    }

    fn close(&self, py: Python<'_>) -> Result<()> {
        self.handle.close(py)
    }

    #[pyo3(signature = (prefix=None))]
    fn ids(&self, py: Python<'_>, prefix: Option<&str>) -> Result<Vec<Id>> {
        self.handle.with(py, |store| Ok(store.ids(prefix).into_iter().map(Id).collect()))
    }

    #[pyo3(signature = (id, values, settings=None))]
    fn put(
        &self,
        py: Python<'_>,
        id: Id,
        values: PyReadonlyArrayDyn<'_, f32>,
        settings: Option<PutSettings>,
    ) -> Result<Cost> {
        let options = PutSettings::options(settings)?;
        let (shape, values) = (values.shape(), values.as_slice().map_err(PyErr::from)?);
        self.handle.with(py, |store| Ok(store.put_with(id.0, shape, values, &options)?.into()))
    }

    #[pyo3(signature = (id, frame, time=None, max_error=None))]
    fn append(
        &self,
        py: Python<'_>,
        id: Id,
        frame: PyReadonlyArrayDyn<'_, f32>,
        time: Option<u64>,
        max_error: Option<f32>,
    ) -> Result<FrameFacts> {
        let (shape, frame) = (frame.shape(), frame.as_slice().map_err(PyErr::from)?);
        self.handle.with(py, |store| {
            let time = time.unwrap_or_else(|| store.now());
            Ok(FrameFacts::appended(store.append_limited(id.0, shape, frame, time, max_error)?, time))
        })
    }

    #[pyo3(signature = (id, recipe, shape=None))]
    fn put_absent(&self, py: Python<'_>, id: Id, recipe: Recipe<'_>, shape: Option<Vec<usize>>) -> Result<()> {
        let (reconstruct, known) = recipe.reconstruct()?;
        let shape = shape.or(known);
        self.handle.with(py, |store| {
            let shape = shape.map_or_else(|| shape_of(store, &reconstruct), Ok)?;
            Ok(store.put_absent(id.0, &shape, &reconstruct)?)
        })
    }

    fn attach(&self, py: Python<'_>, id: Id, recipe: Option<Recipe<'_>>) -> Result<()> {
        let reconstruct = recipe.map(Recipe::reconstruct).transpose()?.map(|(reconstruct, _)| reconstruct);
        self.handle.with(py, |store| Ok(store.attach(id.0, reconstruct.as_ref())?))
    }

    fn pin(&self, py: Python<'_>, id: Id, to: Option<&str>) -> Result<()> {
        let to = to.map(|name| tier("tier", name)).transpose()?;
        self.handle.with(py, |store| Ok(store.pin(id.0, to)?))
    }

    fn set_max_error(&self, py: Python<'_>, id: Id, max_error: Option<f32>) -> Result<()> {
        self.handle.with(py, |store| Ok(store.set_max_error(id.0, max_error)?))
    }

    fn set_user(&self, py: Python<'_>, id: Id, user: Vec<(String, String)>) -> Result<()> {
        self.handle.with(py, |store| Ok(store.set_user(id.0, &user)?))
    }

    fn delete(&self, py: Python<'_>, id: Id, dependents_become: &str) -> Result<()> {
        let dependents = dependents(dependents_become)?;
        self.handle.with(py, |store| Ok(store.delete(id.0, dependents)?))
    }

    #[pyo3(signature = (now_ms=None))]
    fn tick(&self, py: Python<'_>, now_ms: Option<u64>) -> Result<Ticked> {
        self.handle.with(py, |store| Ok(store.tick(now_ms.unwrap_or_else(|| store.now()))?.into()))
    }

    #[pyo3(signature = (now_ms=None))]
    fn plan(&self, py: Python<'_>, now_ms: Option<u64>) -> Result<Planned> {
        self.handle.with(py, |store| Ok(store.plan(now_ms.unwrap_or_else(|| store.now()))?.into()))
    }

    fn stats(&self, py: Python<'_>) -> Result<Counts> {
        self.handle.with(py, |store| Ok(store.stats()?.into()))
    }

    fn verify(&self, py: Python<'_>) -> Result<Verified> {
        self.handle.with(py, |store| Ok(store.verify()?.into()))
    }

    fn compact(&self, py: Python<'_>, garbage: f32, all: bool) -> Result<Compacted> {
        self.handle.with(py, |store| Ok(store.compact(CompactOptions { garbage, all })?.into()))
    }

    fn backup(&self, py: Python<'_>, path: PathBuf) -> Result<()> {
        self.handle.with(py, |store| Ok(store.backup(path)?))
    }

    fn sync_to(&self, py: Python<'_>, path: PathBuf) -> Result<Synced> {
        self.handle.with(py, |store| Ok(store.sync_to(path)?.into()))
    }

    fn flush(&self, py: Python<'_>) -> Result<()> {
        self.handle.with(py, |store| Ok(store.flush()?))
    }

    fn recovery(&self, py: Python<'_>) -> Result<Recovered> {
        self.handle.with(py, |store| Ok(store.recovery().clone().into()))
    }

    fn search<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'py, f32>,
        k: usize,
        settings: SearchSettings,
    ) -> Result<Vec<Answers<'py>>> {
        let options = settings.options()?;
        let (count, columns) = (queries.shape()[0], queries.shape()[1]);
        let values = queries.as_slice().map_err(PyErr::from)?;
        // Queries without values are empty slices, which the store rejects.
        let query = |i: usize| &values[i * columns..(i + 1) * columns];
        let queries: Vec<&[f32]> = (0..count).map(query).collect();
        let results = self.handle.with(py, |store| Ok(store.search(&queries, k, &options)?))?;
        Ok(results.into_iter().map(|result| Answers::new(py, result)).collect())
    }

    fn snapshot(&self, py: Python<'_>) -> Result<StoreSnapshot> {
        self.handle.with(py, |store| Ok(store.snapshot())).map(StoreSnapshot::new)
    }

    fn batch(&self) -> StoreBatch {
        StoreBatch::new(Arc::clone(&self.handle))
    }
}

/// Returns the shape of a reconstructed tensor.
fn shape_of(store: &TensorStore, reconstruct: &Reconstruction) -> std::result::Result<Vec<usize>, StoreError> {
    let base = store.shape(reconstruct.base())?;
    match reconstruct {
        Reconstruction::Factor { factor, .. } => factor.shape(&base),
        Reconstruction::Delta { .. } => Ok(base),
    }
}
