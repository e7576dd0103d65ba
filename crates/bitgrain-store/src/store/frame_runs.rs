//! Runs of frames as units of the tier policy: old frames age separately from new ones.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bitgrain_formats::segment::{FrameValues, Role};

use super::Core;
use super::frame_head::tier_of;
use super::future_dates::is_ahead;
use super::lookup::Found;
use crate::id::Key;
use crate::policy::Usage;
use crate::{StoreError, TensorId, Tier, record};

/// A key frame and the frames that depend on it, or consecutive frames without data.
#[derive(Debug, Clone)]
pub(super) struct FrameRun {
    pub(super) frames: Range<u64>,
    /// Tier with the most bits among its frames.
    pub(super) tier: Tier,
    /// Size of its records in bytes. The first run includes the record of the tensor.
    pub(super) bytes: u64,
    /// Part of `bytes` that does not depend on the tier.
    pub(super) overhead: u64,
    /// Number of its frames that were not re-encoded yet.
    pub(super) appended: u64,
    /// Largest error bound of its frames; infinite without data.
    pub(super) bound: f32,
    /// Time at which the last of its records was written.
    pub(super) changed_at: u64,
}

/// Cache of the runs of temporal tensors.
#[derive(Debug, Default)]
pub(super) struct FrameRuns {
    known: Mutex<HashMap<Key, Known>>,
}

/// Runs of a tensor, with the version of the frames they were computed from.
#[derive(Debug)]
struct Known {
    version: (usize, u64),
    runs: Vec<FrameRun>,
}

impl Core {
    /// Returns the runs of a temporal tensor, from its frame heads if they changed since the last call.
    pub(super) fn frame_runs(&self, key: &[u8], found: &Found) -> Result<Vec<FrameRun>, StoreError> {
        let version = found.frames_version();
        let known = || self.frame_runs.known.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = known().get(key).filter(|known| known.version == version).map(|known| known.runs.clone());
        let mut runs = match cached {
            Some(runs) => runs,
            None => {
                let runs = read_runs(&TensorId::of_key(key), found)?;
                known().insert(key.into(), Known { version, runs: runs.clone() });
                runs
            }
        };
        // Not in the cache, because an edit replaces this record without changing the frames.
        if let Some(first) = runs.first_mut() {
            first.bytes += found.place.len;
            first.overhead += found.place.len;
        }
        Ok(runs)
    }

    /// Returns the usage of an old run: its latest reads, or its writing.
    pub(super) fn run_usage(&self, key: &[u8], run: &FrameRun, now: u64) -> Usage {
        let written = Usage::first(run.changed_at, &self.config.policy);
        let Some(read) = self.index.frame_uses.usage(key, &run.frames) else { return written };
        // The first access is the write itself, as for other tensors.
        let accesses = read.accesses.saturating_add(1);
        let latest = if read.last >= written.last || is_ahead(written.last, now) { read } else { written };
        Usage { accesses, ..latest }
    }

    /// Forgets the runs of tensors that no longer exist.
    pub(super) fn forget_runs(&self) {
        let there = |key: &Key| self.index.with(key, |entry| entry.traits.temporal) == Some(true);
        self.frame_runs.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| there(key));
    }
}

/// Reads the heads of all frames.
fn read_runs(id: &TensorId, found: &Found) -> Result<Vec<FrameRun>, StoreError> {
    let (mut runs, mut buffer) = (Vec::<FrameRun>::new(), Vec::new());
    for (index, place) in (0..).zip(found.frames.iter().flat_map(|frames| frames.iter())) {
        let view = record::read_head(place, Some(id), &mut buffer)?;
        let head = record::frame_head(&view, place, id)?;
        let (tier, written) = (tier_of(head), view.head.stamp.time);
        let absent = head.values == FrameValues::Absent;
        let bound = if absent { f32::INFINITY } else { head.accuracy.bound() };
        let values = head.body_len().saturating_sub(head.scales_len());
        let overhead = place.len.saturating_sub(values as u64);
        let appended = u64::from(head.rewritten.is_none());
        let continues = |run: &&mut FrameRun| if absent { run.bound.is_infinite() } else { head.role != Role::Key };
        match runs.last_mut().filter(continues) {
            Some(run) => {
                run.frames.end = index + 1;
                run.tier = run.tier.min(tier);
                run.bytes += place.len;
                run.overhead += overhead;
                run.appended += appended;
                run.bound = run.bound.max(bound);
                run.changed_at = run.changed_at.max(written);
            }
            None => {
                let frames = index..index + 1;
                runs.push(FrameRun { frames, tier, bytes: place.len, overhead, appended, bound, changed_at: written });
            }
        }
    }
    Ok(runs)
}
