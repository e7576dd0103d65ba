//! Reading of frames of a temporal tensor.

use std::ops::Range;

use super::TensorStore;
use super::lookup::Found;
use crate::temporal::FrameRole;
use crate::{Provenance, StoreError, TensorId};

/// A frame read from the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// 0-based index of the frame.
    pub index: u64,
    /// Timestamp given to `append`, in the caller's unit.
    pub time: u64,
    /// Decoded values.
    pub values: Vec<f32>,
    /// Data it shares with other frames.
    pub role: FrameRole,
    /// Tier and error of the values.
    pub provenance: Provenance,
}

impl TensorStore {
    /// Reads a range of frames of a temporal tensor.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`], [`StoreError::NotTemporal`], [`StoreError::FramesOutOfRange`],
    /// [`StoreError::Damaged`] or [`StoreError::Io`].
    pub fn frames(&self, id: impl Into<TensorId>, range: Range<u64>) -> Result<Vec<Frame>, StoreError> {
        let id = id.into();
        let found = self.core.touch(&id.key()).ok_or_else(|| StoreError::NotFound { id: id.clone() })?;
        let frames = self.core.reader().frames(&found, &id, range.clone())?;
        self.core.frame_runs.touch(&id.key(), &range, self.core.now(), &self.core.config.policy);
        Ok(frames)
    }

    /// Returns the number of frames of a temporal tensor.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`] or [`StoreError::NotTemporal`].
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
