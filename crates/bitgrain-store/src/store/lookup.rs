//! Index lookup: returns everything a reader or writer needs of a tensor at once.

use std::sync::Arc;

use super::Core;
use crate::index::{Entry, Traits};
use crate::policy::Usage;
use crate::segment::Place;
use crate::{StoreError, TensorId, Tier};

/// State of a tensor in the index at one moment. Holding it keeps its records readable.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) traits: Traits,
    pub(super) usage: Usage,
    pub(super) wanted: Tier,
    /// Wanted tier, if a tick decided about one since the data was written.
    pub(super) decided: Option<Tier>,
    pub(super) frames: Option<Arc<Vec<Place>>>,
}

impl Found {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            place: entry.place.clone(),
            traits: entry.traits,
            usage: entry.usage.load(),
            wanted: entry.wanted(),
            decided: entry.decided_tier(),
            frames: entry.frames.clone(),
        }
    }

    /// Returns a value that changes when a frame is added or re-encoded, but not when compaction moves one. Sequence numbers
    /// only increase, so their sum does too.
    pub(super) fn frames_version(&self) -> (usize, u64) {
        let frames = self.frames.as_ref().map_or(&[][..], |frames| frames);
        (frames.len(), frames.iter().fold(0, |sum: u64, frame| sum.wrapping_add(frame.sequence)))
    }

    /// Returns the total size of its records in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.place.len + self.frames.iter().flat_map(|frames| frames.iter()).map(|frame| frame.len).sum::<u64>()
    }
}

/// Returns whether the tensor was not changed between two lookups.
pub(super) fn is_unchanged(before: Option<&Found>, now: Option<&Found>) -> bool {
    let version = |found: &Found| (found.place.sequence, found.frames_version());
    before.map(version) == now.map(version)
}

/// Lookup of tensors, in the index or in a snapshot.
pub(super) trait Lookup {
    fn lookup(&self, id: &TensorId) -> Option<Found>;
}

impl Lookup for Core {
    fn lookup(&self, id: &TensorId) -> Option<Found> {
        self.find(&id.key())
    }
}

impl Core {
    /// Returns the state of a tensor.
    pub(super) fn find(&self, key: &[u8]) -> Option<Found> {
        self.index.with(key, Found::of)
    }

    /// Like [`find`](Self::find), but fails if the tensor does not exist.
    pub(super) fn found(&self, id: &TensorId, key: &[u8]) -> Result<Found, StoreError> {
        self.find(key).ok_or_else(|| StoreError::NotFound { id: id.clone() })
    }

    /// Counts an access and returns the state of the tensor.
    pub(super) fn touch(&self, key: &[u8]) -> Option<Found> {
        self.touch_with(key, Found::of)
    }

    /// Counts an access and calls `look` with the entry.
    pub(super) fn touch_with<T>(&self, key: &[u8], look: impl FnOnce(&Entry) -> T) -> Option<T> {
        let now = self.now();
        self.index.touch(key, |entry| entry.usage.touch(now, &self.config.policy), look)
    }

    /// Counts a write, where `before` is whether the tensor existed. The first write is not marked dirty, because its
    /// usage follows from the time of the record.
    pub(super) fn touch_written(&self, key: &[u8], before: bool, now: u64) {
        let touch = |entry: &Entry| entry.usage.touch(now, &self.config.policy);
        if before {
            self.index.touch(key, touch, |_| ());
        } else {
            self.index.with(key, touch);
        }
    }
}
