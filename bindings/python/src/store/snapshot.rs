//! A store as it was at one moment.

use bitgrain::store::Snapshot;
use numpy::{PyArrayDyn, PyReadwriteArrayDyn};
use pyo3::prelude::*;

use super::handle::Handle;
use super::id::Id;
use super::report::{Cost, FrameFacts, Known};
use super::values::{Read, Stacked, tensor};
use crate::error::Result;

/// The native half of a `Snapshot`.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreSnapshot {
    handle: Handle<Snapshot>,
}

impl StoreSnapshot {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        Self { handle: Handle::snapshot(snapshot) }
    }
}

#[pymethods]
impl StoreSnapshot {
    fn close(&self, py: Python<'_>) {
        self.handle.close(py);
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> bool {
        self.handle.is_closed(py)
    }

    fn count(&self, py: Python<'_>) -> Result<usize> {
        self.handle.with(py, |snapshot| Ok(snapshot.len()))
    }

    fn contains(&self, py: Python<'_>, id: Id) -> Result<bool> {
        self.handle.with(py, |snapshot| Ok(snapshot.contains(id.0)))
    }

    fn ids(&self, py: Python<'_>) -> Result<Vec<Id>> {
        self.handle.with(py, |snapshot| Ok(snapshot.ids().into_iter().map(Id).collect()))
    }

    fn shape(&self, py: Python<'_>, id: Id) -> Result<Vec<usize>> {
        self.handle.with(py, |snapshot| Ok(snapshot.shape(id.0)?))
    }

    fn get<'py>(&self, py: Python<'py>, id: Id) -> Result<Read<'py>> {
        tensor(py, self.handle.with(py, |snapshot| Ok(snapshot.get(id.0)?))?)
    }

    fn get_into(&self, py: Python<'_>, id: Id, mut out: PyReadwriteArrayDyn<'_, f32>) -> Result<Cost> {
        let out = out.as_slice_mut().map_err(PyErr::from)?;
        self.handle.with(py, |snapshot| Ok(snapshot.get_into(id.0, out)?.into()))
    }

    fn get_rows<'py>(&self, py: Python<'py>, id: Id, start: usize, stop: usize) -> Result<Read<'py>> {
        tensor(py, self.handle.with(py, |snapshot| Ok(snapshot.get_rows(id.0, start..stop)?))?)
    }

    fn frames<'py>(
        &self,
        py: Python<'py>,
        id: Id,
        start: u64,
        stop: u64,
    ) -> Result<(Bound<'py, PyArrayDyn<f32>>, Vec<FrameFacts>)> {
        let id = id.0;
        let frames = |snapshot: &Snapshot| Ok(Stacked::new(&snapshot.shape(&id)?, snapshot.frames(&id, start..stop)?));
        self.handle.with(py, frames)?.into_python(py)
    }

    fn frame_count(&self, py: Python<'_>, id: Id) -> Result<u64> {
        self.handle.with(py, |snapshot| Ok(snapshot.frame_count(id.0)?))
    }

    fn stat(&self, py: Python<'_>, id: Id) -> Result<Known> {
        self.handle.with(py, |snapshot| Ok(snapshot.meta(id.0)?.into()))
    }
}
