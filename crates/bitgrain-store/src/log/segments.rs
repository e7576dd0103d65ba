//! The segments that count, by number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::segment::Segment;

/// The segments that count.
#[derive(Debug, Default)]
pub(crate) struct Segments(Mutex<BTreeMap<u64, Arc<Segment>>>);

impl Segments {
    pub(crate) fn insert(&self, segment: Arc<Segment>) {
        self.lock().insert(segment.number(), segment);
    }

    pub(crate) fn remove(&self, number: u64) {
        self.lock().remove(&number);
    }

    /// All of them in the order of their records: compacted ones, then the log.
    pub(crate) fn all(&self) -> Vec<Arc<Segment>> {
        let mut all: Vec<_> = self.lock().values().cloned().collect();
        all.sort_by_key(|segment| (segment.is_log(), segment.header.base_sequence, segment.number()));
        all
    }

    /// Bytes of all of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().values().map(|segment| segment.len()).sum()
    }

    /// Bytes of the largest.
    pub(crate) fn largest(&self) -> u64 {
        self.lock().values().map(|segment| segment.len()).max().unwrap_or(0)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Segment>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
