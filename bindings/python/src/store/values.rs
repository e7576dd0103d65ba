//! Conversion of values to arrays.

use bitgrain::store::{Frame, StoredTensor};
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

use super::report::{Cost, FrameFacts};
use crate::error::Result;

/// Values and their provenance.
pub(super) type Read<'py> = (Bound<'py, PyArrayDyn<f32>>, Cost);

/// Frames along the first axis, and their metadata.
pub(super) type Frames<'py> = (Bound<'py, PyArrayDyn<f32>>, Vec<FrameFacts>);

/// Creates an array from values without a copy.
pub(super) fn array<'py>(py: Python<'py>, values: Vec<f32>, shape: Vec<usize>) -> Result<Bound<'py, PyArrayDyn<f32>>> {
    Ok(values.into_pyarray(py).reshape(shape)?)
}

/// Converts a tensor to an array.
pub(super) fn tensor(py: Python<'_>, tensor: StoredTensor) -> Result<Read<'_>> {
    let StoredTensor { shape, values, provenance } = tensor;
    Ok((array(py, values, shape)?, Cost::from(provenance)))
}

/// Frames, concatenated.
pub(super) struct Stacked {
    shape: Vec<usize>,
    values: Vec<f32>,
    facts: Vec<FrameFacts>,
}

impl Stacked {
    /// Concatenates frames of the same shape.
    pub(super) fn new(shape: &[usize], frames: Vec<Frame>) -> Self {
        let mut values = Vec::with_capacity(frames.iter().map(|frame| frame.values.len()).sum());
        frames.iter().for_each(|frame| values.extend_from_slice(&frame.values));
        let shape = [&[frames.len()], shape].concat();
        Self { shape, values, facts: frames.iter().map(FrameFacts::from).collect() }
    }

    pub(super) fn into_python(self, py: Python<'_>) -> Result<Frames<'_>> {
        Ok((array(py, self.values, self.shape)?, self.facts))
    }
}
