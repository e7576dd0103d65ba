//! Atomic batches.

use std::sync::{Arc, Mutex, PoisonError};

use bitgrain::store::{Changes, StoreError, TensorStore, WriteBatch};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::handle::{Failure, Handle};
use super::id::Id;
use super::report::Cost;
use super::settings::PutSettings;
use crate::error::Result;

/// Native part of a `StoreBatch`.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreBatch {
    handle: Arc<Handle<TensorStore>>,
    /// `None` after commit or discard.
    changes: Mutex<Option<Changes>>,
}

impl StoreBatch {
    pub(super) fn new(handle: Arc<Handle<TensorStore>>) -> Self {
        Self { handle, changes: Mutex::new(Some(Changes::default())) }
    }

    /// Adds changes to the batch.
    fn add<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut WriteBatch<'_>) -> std::result::Result<T, StoreError> + Send,
    ) -> Result<T> {
        self.handle.with(py, |store| {
            let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
            let mut batch = store.batch_of(changes.take().ok_or(OVER)?);
            let done = change(&mut batch);
            *changes = Some(batch.into_changes());
            Ok(done?)
        })
    }
}

const OVER: Failure = Failure::Closed("batch");

#[pymethods]
impl StoreBatch {
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
        self.add(py, |batch| Ok(batch.put_with(id.0, shape, values, &options)?.into()))
    }

    #[pyo3(signature = (id, frame, time=None))]
    fn append(&self, py: Python<'_>, id: Id, frame: PyReadonlyArrayDyn<'_, f32>, time: Option<u64>) -> Result<()> {
        let (shape, frame) = (frame.shape(), frame.as_slice().map_err(PyErr::from)?);
        self.handle.with(py, |store| Ok(time.unwrap_or_else(|| store.now()))).and_then(|time| {
            self.add(py, |batch| {
                batch.append(id.0, shape, frame, time);
                Ok(())
            })
        })
    }

    fn delete(&self, py: Python<'_>, id: Id) -> Result<()> {
        self.add(py, |batch| {
            batch.delete(id.0);
            Ok(())
        })
    }

    fn count(&self, py: Python<'_>) -> Result<usize> {
        self.add(py, |batch| Ok(batch.len()))
    }

    /// Applies all changes, or none. The batch is closed in both cases.
    fn commit(&self, py: Python<'_>) -> Result<()> {
        self.handle.with(py, |store| {
            let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner).take();
            Ok(store.batch_of(changes.ok_or(OVER)?).commit()?)
        })
    }

    /// Discards the changes.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(self.changes.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
