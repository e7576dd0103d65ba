//! Segments of the store, by number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::segment::Segment;

/// Segments listed in the manifest, plus the current one.
#[derive(Debug, Default)]
pub(crate) struct Segments(Mutex<BTreeMap<u64, Arc<Segment>>>);

impl Segments {
    pub(crate) fn insert(&self, segment: Arc<Segment>) {
        self.lock().insert(segment.number(), segment);
    }

    pub(crate) fn remove(&self, number: u64) {
        self.lock().remove(&number);
    }

    /// Returns all segments in record order: compacted segments, then the log.
    pub(crate) fn all(&self) -> Vec<Arc<Segment>> {
        let mut all: Vec<_> = self.lock().values().cloned().collect();
        all.sort_by_key(|segment| (segment.is_log(), segment.header.base_sequence, segment.number()));
        all
    }

    /// Returns the total size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().values().map(|segment| segment.len()).sum()
    }

    /// Returns the size in bytes of the largest segment.
    pub(crate) fn largest(&self) -> u64 {
        self.lock().values().map(|segment| segment.len()).max().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Segment>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
