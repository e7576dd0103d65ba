//! Reads of frames, so that old frames of a temporal tensor age separately from new ones.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bitgrain_formats::segment::FRAMES_PER_COUNT;

use crate::id::Key;
use crate::policy::{PolicyConfig, Usage};

/// Reads of groups of frames. A group is only stored after its first read.
#[derive(Debug, Default)]
pub(crate) struct FrameUses {
    counts: Mutex<HashMap<Key, BTreeMap<u64, Count>>>,
}

/// Reads of one group.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    usage: Usage,
    /// Whether the usage is not written yet.
    dirty: bool,
}

impl FrameUses {
    /// Counts a read of frames.
    pub(crate) fn touch(&self, key: &[u8], frames: &Range<u64>, now: u64, config: &PolicyConfig) {
        let Some(last) = frames.end.checked_sub(1).filter(|last| *last >= frames.start) else { return };
        let mut counts = self.counts();
        let groups = counts.entry(key.into()).or_default();
        for group in frames.start / FRAMES_PER_COUNT..=last / FRAMES_PER_COUNT {
            let count = groups.entry(group).or_default();
            count.usage.touch(now, config);
            count.dirty = true;
        }
    }

    /// Returns the reads of a range of frames: those of the group with the latest read, and the largest number of them.
    pub(crate) fn usage(&self, key: &[u8], frames: &Range<u64>) -> Option<Usage> {
        let groups = frames.start / FRAMES_PER_COUNT..frames.end.div_ceil(FRAMES_PER_COUNT);
        let counts = self.counts();
        let read = || counts.get(key).into_iter().flat_map(|counts| counts.range(groups.clone()));
        let accesses = read().map(|(_, count)| count.usage.accesses).max()?;
        let latest = read().map(|(_, count)| count.usage).max_by_key(|usage| usage.last)?;
        Some(Usage { accesses, ..latest })
    }

    /// Sets the usage of a group, as read from a file.
    pub(crate) fn set(&self, key: &[u8], group: u64, usage: Usage) {
        self.counts().entry(key.into()).or_default().insert(group, Count { usage, dirty: false });
    }

    /// Returns the groups of a tensor, and marks them as written.
    pub(crate) fn take(&self, key: &[u8], which: Groups) -> Vec<(u64, Usage)> {
        let mut counts = self.counts();
        let Some(groups) = counts.get_mut(key) else { return Vec::new() };
        let taken = groups.iter_mut().filter(|(_, count)| which == Groups::All || count.dirty);
        taken
            .map(|(group, count)| {
                count.dirty = false;
                (*group, count.usage)
            })
            .collect()
    }

    /// Forgets the reads of a tensor that was deleted or replaced.
    pub(crate) fn forget(&self, key: &[u8]) {
        let mut counts = self.counts();
        if !counts.is_empty() {
            counts.remove(key);
        }
    }

    /// Changes the usage of all groups with `change`; returns the tensors that it changed.
    pub(crate) fn update(&self, change: impl Fn(Usage) -> Usage) -> Vec<Key> {
        let mut counts = self.counts();
        let changed = counts.iter_mut().filter_map(|(key, groups)| {
            let mut any = false;
            for count in groups.values_mut() {
                let after = change(count.usage);
                if after != count.usage {
                    *count = Count { usage: after, dirty: true };
                    any = true;
                }
            }
            any.then(|| key.clone())
        });
        changed.collect()
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<Key, BTreeMap<u64, Count>>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Groups of frames to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Groups {
    /// Those read since the last call.
    Dirty,
    /// All of them, because compaction drops the records that have them.
    All,
}
