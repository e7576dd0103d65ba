//! Re-encoding of runs of frames with fewer bits.

use std::collections::HashSet;
use std::ops::Range;

use bitgrain_codec::BitWidth;
use bitgrain_formats::segment::{Accuracy, Content, FrameHead, FrameValues};

use super::Core;
use super::frame_head::{float_head, stored_head};
use super::lookup::{Found, is_unchanged};
use super::retier::Outcome;
use super::tier_encoder::add_errors;
use crate::index::Traits;
use crate::log::{Purpose, Record};
use crate::temporal::{FrameConfig, FrameEncoder};
use crate::{StoreError, TensorId, Tier, record};

impl Core {
    /// Re-encodes runs of frames of one tensor as of `now` and replaces their records atomically. Error bounds add up. A run
    /// must start with a key frame and contain all frames that depend on it.
    pub(super) fn retier_frames(
        &self,
        id: &TensorId,
        runs: &[(Range<u64>, Tier)],
        now: u64,
        purpose: Purpose,
    ) -> Result<Vec<Outcome>, StoreError> {
        self.log()?.check()?;
        let (key, skipped) = (id.key(), vec![Outcome::Skipped; runs.len()]);
        let Some(seen) = self.find(&key).filter(|found| found.traits.temporal) else { return Ok(skipped) };
        let first = first_sequence(&seen, id)?;
        let (mut records, mut outcomes) = (Vec::new(), Vec::new());
        for (frames, tier) in runs {
            let recoded = self.recode_run(&seen, id, frames, *tier, first, now)?;
            outcomes.push(match &recoded {
                Some(_) => Outcome::Done { before: frame_bytes(&seen, frames), after: 0 },
                None => Outcome::Skipped,
            });
            records.extend(recoded.into_iter().flatten());
        }
        let _held = self.lock_tensor(&key);
        // Held until the records are written: concurrent evictions could otherwise make a chain too long.
        let evicts = runs.iter().any(|(_, tier)| *tier == Tier::Absent);
        let _linking = evicts.then(|| self.linking());
        let may_evict = || self.links().may_drop(self, id, seen.traits.reconstructable, &HashSet::new());
        if !is_unchanged(self.find(&key).as_ref(), Some(&seen)) || evicts && !may_evict() {
            return Ok(skipped);
        }
        self.commit_for(&mut records, self.now(), purpose)?;
        let found = self.find(&key);
        for (outcome, (frames, _)) in outcomes.iter_mut().zip(runs) {
            if let Outcome::Done { after, .. } = outcome {
                *after = found.as_ref().map_or(0, |found| frame_bytes(found, frames));
            }
        }
        // Marks the entry as dirty: a wanted tier is written only where it differs from the stored one, which changed. The
        // next frame follows the last run.
        let count = seen.frame_count(id)?;
        let moved = outcomes
            .iter()
            .zip(runs)
            .find(|(outcome, (frames, _))| matches!(outcome, Outcome::Done { .. }) && frames.end == count);
        self.index.touch(
            &key,
            |_| {},
            |entry| {
                if let Some((_, (_, tier))) = moved {
                    entry.want(if *tier == Tier::Absent { Tier::Cold } else { *tier });
                }
            },
        );
        Ok(outcomes)
    }

    /// Decodes and re-encodes a run. Returns `None` if the limits of the tensor do not allow the tier.
    fn recode_run<'i>(
        &self,
        seen: &Found,
        id: &'i TensorId,
        frames: &Range<u64>,
        tier: Tier,
        first: u64,
        now: u64,
    ) -> Result<Option<Vec<Record<'i>>>, StoreError> {
        if tier == Tier::Absent {
            return self.evict_run(seen, id, frames, first, now);
        }
        let Some(width) = tier.width() else { return Ok(None) };
        if frames.end > seen.frame_count(id)? || seen.traits.pinned.is_some_and(|pin| tier > pin) {
            return Ok(None);
        }
        let shape = self.reader().shape(seen, id)?;
        let settings = FrameConfig { width, block: self.config.block_len, ..self.config.frames };
        let mut encoder = FrameEncoder::new(settings, super::limits::elements(&shape)?);
        let mut records = Vec::new();
        for frame in self.reader().frames(seen, id, frames.clone())? {
            // A frame with fewer bits keeps its tier: its bits are not restored.
            let tier = frame.provenance.tier.max(tier);
            encoder.set_config(FrameConfig { width: tier.width().unwrap_or(width), ..encoder.config() });
            let encoded = encoder.encode(&frame.values)?;
            let mut head = stored_head(frame.index, tier, &shape, frame.time, &encoded.head);
            let before = Accuracy::new(frame.provenance.bound, frame.provenance.measured);
            head.accuracy = add_errors(before, head.accuracy);
            head.rewritten = Some(first);
            if seen.traits.max_error.is_some_and(|limit| head.accuracy.bound() > limit) {
                return Ok(None);
            }
            records.push(Record::new(&encoded.body, Content::Frame(id.as_id(), head), now));
        }
        Ok(Some(records))
    }
}

impl Core {
    /// Returns records with data at 8 bits for evicted frames.
    pub(super) fn materialize_frames<'i>(&self, seen: &Found, id: &'i TensorId) -> Result<Vec<Record<'i>>, StoreError> {
        let (first, mut records) = (first_sequence(seen, id)?, Vec::new());
        let shape = self.reader().shape(seen, id)?;
        let settings = FrameConfig { width: BitWidth::W8, block: self.config.block_len, ..self.config.frames };
        let runs = self.frame_runs(&id.key(), seen)?;
        for run in runs.iter().filter(|run| run.tier == Tier::Absent) {
            let mut encoder = FrameEncoder::new(settings, super::limits::elements(&shape)?);
            for frame in self.reader().frames(seen, id, run.frames.clone())? {
                let encoded = encoder.encode(&frame.values)?;
                let mut head = stored_head(frame.index, Tier::Hot, &shape, frame.time, &encoded.head);
                let before = Accuracy::new(frame.provenance.bound, frame.provenance.measured);
                head.accuracy = add_errors(before, head.accuracy);
                head.rewritten = Some(first);
                records.push(Record::new(&encoded.body, Content::Frame(id.as_id(), head), self.now()));
            }
        }
        Ok(records)
    }

    /// Returns records without data for a run of frames, or `None` if the tensor does not allow that.
    fn evict_run<'i>(
        &self,
        seen: &Found,
        id: &'i TensorId,
        frames: &Range<u64>,
        first: u64,
        now: u64,
    ) -> Result<Option<Vec<Record<'i>>>, StoreError> {
        let Traits { pinned, reconstructable, max_error, .. } = seen.traits;
        let pinned = pinned.is_some_and(|pin| pin != Tier::Absent);
        // Only a reconstruction makes frames evictable, regardless of the policy for whole tensors.
        if pinned || max_error.is_some() || !reconstructable || !self.config.policy.absent.allows(true) {
            return Ok(None);
        }
        let places = seen.frames.iter().flat_map(|frames| frames.iter()).zip(0..);
        let mut records = Vec::new();
        for (place, _) in places.filter(|(_, index)| frames.contains(index)) {
            let head = record::with_buffer(|buffer| {
                let view = record::read_head(place, Some(id), buffer)?;
                let FrameHead { index, shape, time, .. } = record::frame_head(&view, place, id)?.clone();
                let head = float_head(index, Tier::Absent, &shape, time, FrameValues::Absent, Accuracy::EXACT);
                Ok::<_, StoreError>(FrameHead { rewritten: Some(first), ..head })
            })?;
            records.push(Record::new(&[], Content::Frame(id.as_id(), head), now));
        }
        Ok(Some(records))
    }
}

/// Returns the sequence number of the first record of frame 0, which identifies these frames among earlier ones with the
/// same id.
fn first_sequence(found: &Found, id: &TensorId) -> Result<u64, StoreError> {
    let place = found.frames.as_ref().and_then(|frames| frames.first());
    let place = place.ok_or_else(|| StoreError::NotTemporal { id: id.clone() })?;
    record::with_buffer(|buffer| {
        let view = record::read_head(place, Some(id), buffer)?;
        Ok(record::frame_head(&view, place, id)?.rewritten.unwrap_or(place.sequence))
    })
}

/// Returns the size in bytes of the records of a range of frames.
fn frame_bytes(found: &Found, range: &Range<u64>) -> u64 {
    let frames = (0..).zip(found.frames.iter().flat_map(|frames| frames.iter()));
    frames.filter(|(index, _)| range.contains(index)).map(|(_, place)| place.len).sum()
}
