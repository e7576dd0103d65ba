//! Statistics of a store.

use rayon::prelude::*;

use super::TensorStore;
use crate::segment::Place;
use crate::{StoreError, TensorId, Tier, record};

/// Statistics of a store.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StoreStats {
    /// Number of tensors.
    pub tensors: usize,
    /// Number of temporal tensors.
    pub temporal: usize,
    /// Total number of frames.
    pub frames: u64,
    /// Statistics per tier, in the order of [`Tier::ALL`].
    pub tiers: [TierStats; Tier::COUNT],
    /// Number of segments.
    pub segments: usize,
    /// Total size of the segments in bytes.
    pub file_bytes: u64,
    /// Size of live records in bytes.
    pub live_bytes: u64,
    /// Size in bytes of records that the next compaction can drop.
    pub garbage_bytes: u64,
}

/// Statistics of one tier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierStats {
    /// The tier.
    pub tier: Tier,
    /// Number of tensors. A temporal tensor counts for the lowest tier of its frames that have data, or as absent.
    pub tensors: usize,
    /// Size of records in bytes: of whole tensors, and of the runs of frames at this tier. The record that the frames of a
    /// tensor have in common counts for the first run. The policy's cap on warm tensors applies to the same sizes.
    pub bytes: u64,
    /// Size of the same values as f32 in bytes.
    pub f32_bytes: u64,
    /// Largest error bound of a tensor or frame; infinite for tensors without data.
    pub worst_bound: f32,
}

impl TensorStore {
    /// Computes statistics. The first call after opening reads the head of every tensor; each call reads the heads of
    /// all frames.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] or [`StoreError::Io`].
    pub fn stats(&self) -> Result<StoreStats, StoreError> {
        let core = &self.core;
        core.load_facts()?;
        let none = |tier| TierStats { tier, tensors: 0, bytes: 0, f32_bytes: 0, worst_bound: 0.0 };
        let mut stats = StoreStats {
            tensors: 0,
            temporal: 0,
            frames: 0,
            tiers: Tier::ALL.map(none),
            segments: 0,
            file_bytes: 0,
            live_bytes: 0,
            garbage_bytes: 0,
        };
        let mut temporal = Vec::new();
        core.index.for_each(|entry| {
            let frames = entry.frames.as_ref().map_or(0, |frames| frames.len() as u64);
            let (count, known) = entry.facts().unwrap_or((0, 0.0));
            let bound = if entry.traits.tier == Tier::Absent { f32::INFINITY } else { known };
            stats.tensors += 1;
            if entry.traits.temporal {
                stats.temporal += 1;
                stats.frames += frames;
                temporal.push((entry.key.clone(), count));
                return;
            }
            let tier = &mut stats.tiers[entry.traits.tier.rank()];
            tier.tensors += 1;
            tier.bytes += entry.place.len;
            tier.f32_bytes = tier.f32_bytes.saturating_add(count.saturating_mul(4));
            tier.worst_bound = tier.worst_bound.max(bound);
        });
        for (key, count) in temporal {
            let Some(found) = core.find(&key) else { continue };
            let runs = core.frame_runs(&key, &found)?;
            let evicted = !runs.is_empty() && runs.iter().all(|run| run.tier == Tier::Absent);
            let tier = if evicted { Tier::Absent } else { found.traits.tier };
            stats.tiers[tier.rank()].tensors += 1;
            for run in runs {
                let tier = &mut stats.tiers[run.tier.rank()];
                let frames = run.frames.end - run.frames.start;
                tier.bytes += run.bytes;
                tier.f32_bytes = tier.f32_bytes.saturating_add(count.saturating_mul(4).saturating_mul(frames));
                tier.worst_bound = tier.worst_bound.max(run.bound);
            }
        }
        for segment in core.segments.all() {
            stats.segments += 1;
            stats.file_bytes += segment.len();
            stats.live_bytes += segment.records() - segment.garbage();
            stats.garbage_bytes += segment.garbage();
        }
        Ok(stats)
    }
}

impl super::Core {
    /// Reads the heads of tensors whose size and bound are not in the index yet.
    pub(super) fn load_facts(&self) -> Result<(), StoreError> {
        let mut unknown = Vec::new();
        self.index.for_each(|entry| {
            if entry.facts().is_none() {
                unknown.push((entry.key.clone(), entry.place.clone()));
            }
        });
        // Small reads that mostly wait for the disk, so they run in parallel.
        unknown.par_chunks(256).try_for_each(|unknown| {
            let mut buffer = Vec::new();
            unknown.iter().try_for_each(|(key, place)| self.set_facts(key, place, &mut buffer))
        })
    }

    /// Reads the head of one tensor into its index entry.
    fn set_facts(&self, key: &[u8], place: &Place, buffer: &mut Vec<u8>) -> Result<(), StoreError> {
        let id = TensorId::of_key(key);
        let view = record::read_head(place, Some(&id), buffer)?;
        let head = record::tensor_head(&view, place, &id)?;
        let (count, bound) = (head.count() as u64, head.accuracy.bound());
        self.index.with(key, |entry| {
            if entry.place.is(place) {
                entry.set_facts(count, bound);
            }
        });
        Ok(())
    }
}
