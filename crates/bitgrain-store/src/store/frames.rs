//! Reading of frames of a temporal tensor.

use std::ops::Range;

use super::lookup::Found;
use super::{Core, TensorStore};
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
        let found = self.core.found(&id, &id.key())?;
        let frames = self.core.reader().frames(&found, &id, range.clone())?;
        self.core.count_frame_read(&id.key(), &range);
        Ok(frames)
    }

    /// Counts a read of a tensor, or of a range of its frames, for the tier policy, without reading it: for values that the
    /// caller has read in another process or keeps in memory.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`]; with a range, [`StoreError::NotTemporal`] or [`StoreError::FramesOutOfRange`].
    pub fn record_read(&self, id: impl Into<TensorId>, frames: Option<Range<u64>>) -> Result<(), StoreError> {
        let id = id.into();
        let key = id.key();
        let found = self.core.found(&id, &key)?;
        let Some(Range { start, end }) = frames else {
            self.core.touch(&key);
            return Ok(());
        };
        let frames = found.frame_count(&id)?;
        if start > end || end > frames {
            return Err(StoreError::FramesOutOfRange { start, end, frames });
        }
        self.core.count_frame_read(&key, &(start..end));
        Ok(())
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

impl Core {
    /// Counts a read of frames, for the tensor and for the frames.
    fn count_frame_read(&self, key: &[u8], frames: &Range<u64>) {
        self.index.frame_uses.touch(key, frames, self.now(), &self.config.policy);
        // Afterwards, because this marks the tensor as dirty, and a tick may write its usage at any time.
        self.touch(key);
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
