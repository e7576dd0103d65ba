//! Snapshots.

use bitgrain::store::Snapshot;
use numpy::PyReadwriteArrayDyn;
use pyo3::prelude::*;

use super::handle::Handle;
use super::id::Id;
use super::reading::reading;
use super::report::{Cost, Known};
use super::values::{Frames, Read, Stacked, tensor};
use crate::error::Result;

/// Native part of a `StoreSnapshot`.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreSnapshot {
    handle: Handle<Snapshot>,
}

impl StoreSnapshot {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        Self { handle: Handle::snapshot(snapshot) }
    }
}

reading!(StoreSnapshot, Snapshot);

#[pymethods]
impl StoreSnapshot {
    fn close(&self, py: Python<'_>) {
        self.handle.close(py);
    }

    fn ids(&self, py: Python<'_>) -> Result<Vec<Id>> {
        self.handle.with(py, |snapshot| Ok(snapshot.ids().into_iter().map(Id).collect()))
    }
}
