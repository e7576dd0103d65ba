//! Reading of tensors.

use std::ops::{ControlFlow, Range};

use super::TensorStore;
use crate::{Provenance, StoreError, TensorId};

/// Maximum size in bytes of a mapped record that is read under the lock of its entry: a writer waits one or two
/// microseconds.
const NEAR: u64 = 16 << 10;

/// A tensor read from the store.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTensor {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Values in row-major order.
    pub values: Vec<f32>,
    /// Tier and error of the values.
    pub provenance: Provenance,
}

impl TensorStore {
    /// Reads a tensor; for a temporal tensor, its last frame.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`], [`StoreError::Damaged`], [`StoreError::TierZeroNoPolicy`],
    /// [`StoreError::TooManyZeros`] or [`StoreError::Io`].
    pub fn get(&self, id: impl Into<TensorId>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        let key = id.key();
        let place = self.core.touch_with(&key, |entry| entry.place.clone());
        let place = place.ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        let mut values = Vec::new();
        // Fast path: the record of most tensors contains the values, so the rest of the index entry is not needed.
        let (shape, provenance) = match self.core.reader().read_own(&place, &id, &mut values)? {
            Some(read) => read,
            None => self.core.reader().read_derived(&self.core.found(&id, &key)?, &id, &mut values)?,
        };
        Ok(StoredTensor { shape, values, provenance })
    }

    /// Reads a tensor into a buffer of the caller, which must have as many values as the tensor.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get) and [`StoreError::ShapeMismatch`].
    pub fn get_into(&self, id: impl Into<TensorId>, mut out: &mut [f32]) -> Result<Provenance, StoreError> {
        let id = id.into();
        let (key, reader) = (id.key(), self.core.reader());
        // A small mapped record is read under the lock of its entry: cloning the `Arc` of its segment, a counter that
        // all readers share, would cost concurrent readers more than the read itself.
        let seen = self.core.touch_with(&key, |entry| {
            let near = entry.place.len <= NEAR && entry.place.is_mapped();
            let read = if near { reader.read_small(&entry.place, &id, out).transpose() } else { None };
            read.map_or_else(|| ControlFlow::Continue(entry.place.clone()), ControlFlow::Break)
        });
        match seen.ok_or_else(|| StoreError::NotFound { id: id.clone() })? {
            ControlFlow::Break(read) => read,
            ControlFlow::Continue(place) => {
                if let Some(provenance) = reader.read_small(&place, &id, out)? {
                    return Ok(provenance);
                }
                let (_, provenance) = match reader.read_own(&place, &id, &mut out)? {
                    Some(read) => read,
                    None => reader.read_derived(&self.core.found(&id, &key)?, &id, &mut out)?,
                };
                Ok(provenance)
            }
        }
    }

    /// Reads a range of rows, along the first axis. Only the blocks that contain them are read.
    ///
    /// # Errors
    /// Returns the errors of [`get`](Self::get) and [`StoreError::RowsOutOfRange`].
    pub fn get_rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        let found = self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        self.core.reader().get_rows(&found, &id, rows)
    }

    /// Returns whether a tensor with this id exists. Does not count as a use.
    pub fn contains(&self, id: impl Into<TensorId>) -> bool {
        self.core.find(&id.into().key()).is_some()
    }
}
