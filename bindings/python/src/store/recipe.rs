//! Conversion of `Delta` and `Factor`.

use bitgrain::store::reconstruct::{DeltaValues, Factor, Projection, Reconstruction};
use numpy::{PyReadonlyArray2, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::id::Id;
use crate::error::Result;

/// Native representation: a tuple of three values for a delta, of four for a factor.
#[derive(FromPyObject)]
pub(super) enum Recipe<'py> {
    /// Base, values, and whether the values are the wanted result instead of the delta.
    Delta(Id, PyReadonlyArrayDyn<'py, f32>, bool),
    /// Source, scale, permutation, projection.
    Factor(Id, f32, Option<Vec<u32>>, Option<PyReadonlyArray2<'py, f32>>),
}

impl Recipe<'_> {
    /// Returns the reconstruction, and the shape of the result if it does not depend on the store.
    pub(super) fn reconstruct(self) -> Result<(Reconstruction, Option<Vec<usize>>)> {
        match self {
            Self::Delta(base, values, wanted) => {
                let shape = values.shape().to_vec();
                let values = values.as_slice().map_err(PyErr::from)?.to_vec();
                let values = if wanted { DeltaValues::Wanted(values) } else { DeltaValues::Delta(values) };
                Ok((Reconstruction::Delta { base: base.0, values }, Some(shape)))
            }
            Self::Factor(source, scale, permutation, projection) => {
                let projection = match projection {
                    Some(matrix) => {
                        let values = matrix.as_slice().map_err(PyErr::from)?.to_vec();
                        Some(Projection::new(matrix.shape()[0], matrix.shape()[1], values)?)
                    }
                    None => None,
                };
                let factor = Factor { scale, permutation, projection };
                Ok((Reconstruction::Factor { source: source.0, factor }, None))
            }
        }
    }
}
