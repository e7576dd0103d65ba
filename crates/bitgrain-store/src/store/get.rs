//! Reading tensors.

use std::ops::{ControlFlow, Range};

use super::TensorStore;
use crate::{Provenance, StoreError, TensorId};

/// Bytes of a record that is read at once if it is in memory: a writer waits for a microsecond or two.
const NEAR: u64 = 16 << 10;

/// A tensor that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTensor {
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
    pub fn get(&self, id: impl Into<TensorId>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        let key = id.key();
        let place = self.core.touch_with(&key, |entry| entry.place.clone());
        let place = place.ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        let mut values = Vec::new();
        // Most tensors have their values in their record, and nothing else is needed of their entry.
        let (shape, provenance) = match self.core.reader().read_own(&place, &id, &mut values)? {
            Some(read) => read,
            None => self.core.reader().read_derived(&self.core.found(&id, &key)?, &id, &mut values)?,
        };
        Ok(StoredTensor { shape, values, provenance })
    }

    /// Reads a tensor into memory of the caller, which has as many values as the tensor.
    ///
    /// # Errors
    /// As [`get`](Self::get); [`StoreError::ShapeMismatch`].
    pub fn get_into(&self, id: impl Into<TensorId>, mut out: &mut [f32]) -> Result<Provenance, StoreError> {
        let id = id.into();
        let (key, reader) = (id.key(), self.core.reader());
        // A small record in memory is read under the lock of its entry: to hold on to its segment, which all readers share,
        // would take two of them longer than to read it.
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

    /// Reads rows of a tensor, counted along its first axis. Only the blocks they are in are read.
    ///
    /// # Errors
    /// As [`get`](Self::get); [`StoreError::RowsOutOfRange`].
    pub fn get_rows(&self, id: impl Into<TensorId>, rows: Range<usize>) -> Result<StoredTensor, StoreError> {
        let id = id.into();
        let found = self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        self.core.reader().get_rows(&found, &id, rows)
    }

    /// True if there is a tensor with this id. Not counted as a use of it.
    pub fn contains(&self, id: impl Into<TensorId>) -> bool {
        self.core.find(&id.into().key()).is_some()
    }
}
