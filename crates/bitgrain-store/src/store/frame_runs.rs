//! Runs of frames as units of the tier policy: old frames age separately from new ones.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bitgrain_formats::segment::Role;

use super::Core;
use super::frame_head::tier_of;
use super::lookup::Found;
use crate::id::Key;
use crate::policy::{PolicyConfig, Usage};
use crate::{StoreError, TensorId, Tier, record};

/// A key frame and the frames that depend on it.
#[derive(Debug, Clone)]
pub(super) struct FrameRun {
    pub(super) frames: Range<u64>,
    /// Tier with the most bits among its frames.
    pub(super) tier: Tier,
    /// Size of its records in bytes.
    pub(super) bytes: u64,
    /// Largest error bound of its frames.
    pub(super) bound: f32,
    /// Time at which the last of its records was written.
    pub(super) changed_at: u64,
}

/// Runs and reads of temporal tensors.
#[derive(Debug, Default)]
pub(super) struct FrameRuns {
    known: Mutex<HashMap<Key, Known>>,
    reads: Mutex<HashMap<Key, BTreeMap<u64, Usage>>>,
}

/// Runs of a tensor, with the version of the frames they were computed from.
#[derive(Debug)]
struct Known {
    version: (usize, u64),
    runs: Vec<FrameRun>,
}

/// Number of frames whose reads are counted together.
const FRAMES_PER_COUNT: u64 = 64;

impl FrameRuns {
    /// Counts a read of frames, for the time when they are no longer the newest ones.
    pub(super) fn touch(&self, key: &[u8], frames: &Range<u64>, now: u64, config: &PolicyConfig) {
        let Some(last) = frames.end.checked_sub(1).filter(|last| *last >= frames.start) else { return };
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = reads.entry(key.into()).or_default();
        for part in frames.start / FRAMES_PER_COUNT..=last / FRAMES_PER_COUNT {
            counts.entry(part).or_default().touch(now, config);
        }
    }

    /// Returns the usage of an old run: its latest reads, or its writing.
    pub(super) fn usage(&self, key: &[u8], run: &FrameRun, config: &PolicyConfig) -> Usage {
        let written = Usage::first(run.changed_at, config);
        let reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = run.frames.start / FRAMES_PER_COUNT..run.frames.end.div_ceil(FRAMES_PER_COUNT);
        let read =
            reads.get(key).and_then(|counts| counts.range(parts).map(|(_, usage)| *usage).max_by_key(|u| u.last));
        read.filter(|read| read.last >= written.last).unwrap_or(written)
    }
}

impl Core {
    /// Returns the runs of a temporal tensor, from its frame heads if they changed since the last call.
    pub(super) fn frame_runs(&self, key: &[u8], found: &Found) -> Result<Vec<FrameRun>, StoreError> {
        let version = found.frames_version();
        let known = || self.frame_runs.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(key).filter(|known| known.version == version) {
            return Ok(known.runs.clone());
        }
        let (id, mut runs, mut buffer) = (TensorId::of_key(key), Vec::<FrameRun>::new(), Vec::new());
        for (index, place) in (0..).zip(found.frames.iter().flat_map(|frames| frames.iter())) {
            let view = record::read_head(place, Some(&id), &mut buffer)?;
            let head = record::frame_head(&view, place, &id)?;
            let (tier, bound, written) = (tier_of(head), head.accuracy.bound(), view.head.stamp.time);
            match runs.last_mut().filter(|_| head.role != Role::Key) {
                Some(run) => {
                    run.frames.end = index + 1;
                    run.tier = run.tier.min(tier);
                    run.bytes += place.len;
                    run.bound = run.bound.max(bound);
                    run.changed_at = run.changed_at.max(written);
                }
                None => {
                    let frames = index..index + 1;
                    runs.push(FrameRun { frames, tier, bytes: place.len, bound, changed_at: written });
                }
            }
        }
        known().insert(key.into(), Known { version, runs: runs.clone() });
        Ok(runs)
    }

    /// Forgets the runs and reads of tensors that no longer exist.
    pub(super) fn forget_runs(&self) {
        let there = |key: &Key| self.index.with(key, |entry| entry.traits.temporal) == Some(true);
        self.frame_runs.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| there(key));
        self.frame_runs.reads.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| there(key));
    }
}
