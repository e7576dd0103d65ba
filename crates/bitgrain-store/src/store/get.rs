//! Reading tensors.

use std::ops::{ControlFlow, Range};

use super::TensorStore;
use super::reader::Reader;
use crate::segment::Place;
use crate::{Provenance, StoreError, TensorId};

/// Bytes of a record that is read at once if it is in memory: a writer waits for a microsecond or two.
const NEAR: u64 = 16 << 10;

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
    /// [`StoreError::NotFound`]; [`StoreError::Damaged`]; [`StoreError::TierZeroNoPolicy`], [`StoreError::TooManyZeros`];
    /// [`StoreError::Io`].
    pub fn get(&self, id: impl Into<TensorId>) -> Result<Tensor, StoreError> {
        let id = id.into();
        let key = id.key();
        // Most tensors have their data in their record, and nothing else is needed of them.
        match self.reader().get_own(&self.used(&id, &key)?, &id)? {
            Some(tensor) => Ok(tensor),
            None => self.reader().get(&self.core.found(&id, &key)?, &id),
        }
    }

    /// Reads a tensor into memory of the caller, which has as many values as the tensor.
    ///
    /// # Errors
    /// As [`get`](Self::get); [`StoreError::ShapeMismatch`].
    pub fn get_into(&self, id: impl Into<TensorId>, out: &mut [f32]) -> Result<Provenance, StoreError> {
        let id = id.into();
        let key = id.key();
        // A small record in memory is read under the lock of its entry: to hold on to its segment, which all readers share,
        // would take two of them longer than to read it.
        let seen = self.core.touch_with(&key, |entry| {
            let near = entry.place.len <= NEAR && entry.place.is_mapped();
            let read = if near { self.reader().get_small_into(&entry.place, &id, out).transpose() } else { None };
            read.map_or_else(|| ControlFlow::Continue(entry.place.clone()), ControlFlow::Break)
        });
        match seen.ok_or_else(|| StoreError::NotFound { id: id.clone() })? {
            ControlFlow::Break(read) => read,
            ControlFlow::Continue(place) => match self.reader().get_own_into(&place, &id, out)? {
                Some(provenance) => Ok(provenance),
                None => self.reader().get_into(&self.core.found(&id, &key)?, &id, out),
            },
        }
    }

    /// Reads rows of a tensor, counted along its first axis. Only the blocks they are in are read.
    ///
    /// # Errors
    /// As [`get`](Self::get); [`StoreError::RowsOutOfRange`].
    pub fn get_rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Result<Tensor, StoreError> {
        let id = id.into();
        let found = self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        self.reader().get_rows(&found, &id, rows)
    }

    /// True if there is a tensor with this id. Not counted as a use of it.
    pub fn contains(&self, id: impl Into<TensorId>) -> bool {
        self.core.find(&id.into().key()).is_some()
    }

    /// Finds the record of a tensor and counts the access.
    fn used(&self, id: &TensorId, key: &[u8]) -> Result<Place, StoreError> {
        let place = self.core.touch_with(key, |entry| entry.place.clone());
        place.ok_or_else(|| StoreError::NotFound { id: id.clone() })
    }

    fn reader(&self) -> Reader<'_> {
        self.core.reader()
    }
}
