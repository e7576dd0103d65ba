//! Journal of a segment: records that became live or dead since the last search.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Mutex, PoisonError};

/// Maximum number of changes: 32 MiB. A store that is searched once and then written for days must not keep them all.
const LIMIT: usize = 1 << 20;

/// Changes of a segment's records since they were last taken. Empty until a search starts tracking the segment, so that
/// stores without searches only pay for one flag. Tracking ends when there are too many changes.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    tracked: AtomicBool,
    events: Mutex<Vec<Event>>,
}

/// A record that became live or dead. A record never becomes live again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    /// Offset of the record.
    pub(crate) offset: u64,
    /// Length of the record in bytes.
    pub(crate) len: u64,
    /// Sequence number of the record.
    pub(crate) sequence: u64,
    /// Whether it became live.
    pub(crate) live: bool,
}

impl Journal {
    /// Starts recording. The caller holds all locks of the index, so that no change is in progress.
    pub(crate) fn track(&self) {
        self.tracked.store(true, Release);
    }

    /// Records a change, if the segment is tracked. The caller holds the index lock of the tensor.
    pub(crate) fn push(&self, event: Event) {
        if !self.tracked.load(Acquire) {
            return;
        }
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() < LIMIT {
            events.push(event);
        } else {
            *events = Vec::new();
            self.tracked.store(false, Release);
        }
    }

    /// Returns the changes since the last call, in order; `None` if the segment is not tracked. The caller holds all locks
    /// of the index.
    pub(crate) fn take(&self) -> Option<Vec<Event>> {
        let events = std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner));
        self.tracked.load(Acquire).then_some(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_changes_end_the_tracking() {
        let journal = Journal::default();
        let event = |offset| Event { offset, len: 1, sequence: offset, live: true };
        journal.push(event(1));
        assert_eq!(journal.take(), None, "not tracked yet");
        journal.track();
        journal.push(event(2));
        assert_eq!(journal.take(), Some(vec![event(2)]));
        (0..=LIMIT as u64).for_each(|offset| journal.push(event(offset)));
        assert_eq!(journal.take(), None);
    }
}
