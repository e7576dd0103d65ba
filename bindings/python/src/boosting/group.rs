//! Workers connected by Python code: MPI, Ray, Dask, torch.

use bitgrain::gbdt::distributed::{CommunicationError, Communicator};
use numpy::{PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::objective::FirstRaised;

/// Implementation of `bitgrain.distributed.Communicator`. Its methods are called from one thread at a time, with the GIL
/// held only during a call.
pub(super) struct PythonGroup {
    call: Py<PyAny>,
    rank: usize,
    size: usize,
    /// Exceptions of callables, which explain the failures that they cause.
    raised: FirstRaised,
}

impl PythonGroup {
    pub(super) fn new(group: &Bound<'_, PyAny>, raised: FirstRaised) -> PyResult<Self> {
        let (rank, size) = (group.getattr("rank")?.extract()?, group.getattr("size")?.extract()?);
        Ok(Self { call: group.clone().unbind(), rank, size, raised })
    }

    fn lost(error: &PyErr) -> CommunicationError {
        Python::attach(|py| {
            let value = error.value(py);
            // `bitgrain.errors.WorkerError` names the worker that failed.
            let rank = value.getattr("rank").and_then(|rank| rank.extract()).ok();
            let message = value.str().map_or_else(|_| "unknown error".to_owned(), |text| text.to_string());
            match (rank, value.getattr("reason").and_then(|reason| reason.extract::<String>())) {
                (Some(rank), Ok(message)) => CommunicationError::Worker { rank, message },
                _ => CommunicationError::Lost { message },
            }
        })
    }
}

impl Communicator for PythonGroup {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_reduce(&self, numbers: &mut [u64]) -> Result<(), CommunicationError> {
        let added = Python::attach(|py| -> PyResult<()> {
            let own: Bound<'_, PyArray1<u64>> = numbers.to_pyarray(py);
            let sums: PyReadonlyArray1<'_, u64> = self.call.bind(py).call_method1("all_reduce", (own,))?.extract()?;
            let sums = sums.as_slice()?;
            if sums.len() != numbers.len() {
                let message = format!("all_reduce returned {} numbers for {}", sums.len(), numbers.len());
                return Err(pyo3::exceptions::PyValueError::new_err(message));
            }
            numbers.copy_from_slice(sums);
            Ok(())
        });
        added.map_err(|error| Self::lost(&error))
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicationError> {
        let all = Python::attach(|py| -> PyResult<Vec<Vec<u8>>> {
            let all = self.call.bind(py).call_method1("all_gather", (PyBytes::new(py, bytes),))?;
            all.try_iter()?.map(|bytes| Ok(bytes?.cast_into::<PyBytes>()?.as_bytes().to_vec())).collect()
        });
        all.map_err(|error| Self::lost(&error))
    }

    fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommunicationError> {
        let all = Python::attach(|py| -> PyResult<Option<Vec<Vec<u8>>>> {
            let all = self.call.bind(py).call_method1("gather", (PyBytes::new(py, bytes),))?;
            if all.is_none() {
                return Ok(None);
            }
            let all = all.try_iter()?.map(|bytes| Ok(bytes?.cast_into::<PyBytes>()?.as_bytes().to_vec()));
            all.collect::<PyResult<_>>().map(Some)
        });
        all.map_err(|error| Self::lost(&error))
    }

    fn fail(&self, message: &str) {
        // The error that led here is reported anyway.
        let _ignored = Python::attach(|py| self.call.bind(py).call_method1("fail", (message,)).map(drop));
    }

    fn explanation(&self) -> Option<String> {
        self.raised.text()
    }
}
