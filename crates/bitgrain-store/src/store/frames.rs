//! Frames of a temporal tensor, as they are read.

use std::ops::Range;

use super::TensorStore;
use super::lookup::Found;
use crate::temporal::FrameRole;
use crate::{Provenance, StoreError, TensorId};

/// A frame that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its place among the frames, from 0.
    pub index: u64,
    /// The time it is of, as whoever appended it said.
    pub time: u64,
    /// Its values.
    pub values: Vec<f32>,
    /// What it shares with others.
    pub role: FrameRole,
    /// Where the values come from and how far they can be off.
    pub provenance: Provenance,
}

impl TensorStore {
    /// Reads frames of a temporal tensor.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotTemporal`], [`StoreError::FramesOutOfRange`]; [`StoreError::Damaged`],
    /// [`StoreError::Io`].
    pub fn frames(&self, id: impl Into<TensorId>, range: Range<u64>) -> Result<Vec<Frame>, StoreError> {
        let id = id.into();
        let found = self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        self.core.reader().frames(&found, &id, range)
    }

    /// Number of frames of a temporal tensor.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::NotTemporal`].
    pub fn frame_count(&self, id: impl Into<TensorId>) -> Result<u64, StoreError> {
        let id = id.into();
        self.core.found(&id, &id.key())?.frame_count(&id)
    }
}

impl Found {
    pub(super) fn frame_count(&self, id: &TensorId) -> Result<u64, StoreError> {
        if !self.traits.temporal {
            return Err(StoreError::NotTemporal { id: id.clone() });
        }
        Ok(self.frames.as_ref().map_or(0, |frames| frames.len() as u64))
    }
}
