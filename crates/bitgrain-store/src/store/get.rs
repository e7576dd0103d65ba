//! Reading tensors.

use std::ops::Range;

use super::TensorStore;
use super::reader::Reader;
use super::view::Found;
use crate::{Provenance, StoreError, TensorId};

/// A tensor that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// The values, those of the last axis next to each other.
    pub values: Vec<f32>,
    /// Where they come from and how far they can be off.
    pub provenance: Provenance,
}

impl TensorStore {
    /// Reads a tensor; the last frame of a temporal one.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Damaged`]; [`StoreError::TierZeroNoPolicy`]; [`StoreError::Io`].
    pub fn get(&self, id: impl Into<TensorId>) -> Result<Tensor, StoreError> {
        let id = id.into();
        self.reader().get(&self.used(&id)?, &id)
    }

    /// Reads a tensor into memory of the caller, which has as many values as the tensor.
    ///
    /// # Errors
    /// As [`get`](Self::get); [`StoreError::ShapeMismatch`].
    pub fn get_into(&self, id: impl Into<TensorId>, out: &mut [f32]) -> Result<Provenance, StoreError> {
        let id = id.into();
        self.reader().get_into(&self.used(&id)?, &id, out)
    }

    /// Reads rows of a tensor, counted along its first axis. Only the blocks they are in are read.
    ///
    /// # Errors
    /// As [`get`](Self::get); [`StoreError::RowsOutOfRange`].
    pub fn get_rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Result<Tensor, StoreError> {
        let id = id.into();
        self.reader().get_rows(&self.used(&id)?, &id, rows)
    }

    /// True if there is a tensor with this id. Not counted as a use of it.
    pub fn contains(&self, id: impl Into<TensorId>) -> bool {
        self.core.find(&id.into().key()).is_some()
    }

    /// Finds a tensor and counts the access.
    fn used(&self, id: &TensorId) -> Result<Found, StoreError> {
        self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })
    }

    fn reader(&self) -> Reader<'_> {
        self.core.reader()
    }
}
