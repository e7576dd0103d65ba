//! `reading!`: methods that stores and snapshots have in common.

/// Implements the read methods for a class with a `handle`.
macro_rules! reading {
    ($class:ty, $open:ty) => {
        #[pymethods]
        impl $class {
            #[getter]
            fn closed(&self, py: Python<'_>) -> bool {
                self.handle.is_closed(py)
            }

            fn count(&self, py: Python<'_>) -> Result<usize> {
                self.handle.with(py, |open| Ok(open.len()))
            }

            fn contains(&self, py: Python<'_>, id: Id) -> Result<bool> {
                self.handle.with(py, |open| Ok(open.contains(id.0)))
            }

            fn shape(&self, py: Python<'_>, id: Id) -> Result<Vec<usize>> {
                self.handle.with(py, |open| Ok(open.shape(id.0)?))
            }

            fn get<'py>(&self, py: Python<'py>, id: Id) -> Result<Read<'py>> {
                tensor(py, self.handle.with(py, |open| Ok(open.get(id.0)?))?)
            }

            fn get_into(&self, py: Python<'_>, id: Id, mut out: PyReadwriteArrayDyn<'_, f32>) -> Result<Cost> {
                let out = out.as_slice_mut().map_err(PyErr::from)?;
                self.handle.with(py, |open| Ok(open.get_into(id.0, out)?.into()))
            }

            fn get_rows<'py>(&self, py: Python<'py>, id: Id, start: usize, stop: usize) -> Result<Read<'py>> {
                tensor(py, self.handle.with(py, |open| Ok(open.get_rows(id.0, start..stop)?))?)
            }

            fn frames<'py>(&self, py: Python<'py>, id: Id, start: u64, stop: u64) -> Result<Frames<'py>> {
                let id = id.0;
                let frames = |open: &$open| Ok(Stacked::new(&open.shape(&id)?, open.frames(&id, start..stop)?));
                self.handle.with(py, frames)?.into_python(py)
            }

            fn frame_count(&self, py: Python<'_>, id: Id) -> Result<u64> {
                self.handle.with(py, |open| Ok(open.frame_count(id.0)?))
            }

            fn stat(&self, py: Python<'_>, id: Id) -> Result<Known> {
                self.handle.with(py, |open| Ok(open.meta(id.0)?.into()))
            }
        }
    };
}

pub(super) use reading;
