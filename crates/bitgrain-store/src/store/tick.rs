//! Ticks: apply the tier policy to the store.

use std::ops::Range;

use bitgrain_codec::bound;
use rayon::prelude::*;

use super::future_dates::{cap_at, changed_at, limit_date};
use super::lookup::Found;
use super::tier_moves::{Looked, Mover, tier_move};
use super::{Core, TensorStore};
use crate::id::Key;
use crate::policy::{Candidate, Reason, TierBounds, TierPlan, plan};
use crate::{StoreError, TensorId, Tier};

/// A tensor that is re-encoded with fewer bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierMove {
    /// Id of the tensor.
    pub id: TensorId,
    /// Range of frames, if the tensor is temporal: its frames are moved in runs, old ones before new ones.
    pub frames: Option<Range<u64>>,
    /// Tier of its data before the move.
    pub from: Tier,
    /// Tier of its data after the move.
    pub to: Tier,
    /// Reason for the move.
    pub reason: Reason,
    /// Size of its records in bytes before the move.
    pub bytes: u64,
}

/// Preview of a tick; returned by [`TensorStore::plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TickPlan {
    /// Tensors that would be re-encoded with fewer bits.
    pub moves: Vec<TierMove>,
    /// Tensors whose wanted tier would change, with the new one.
    pub wanted_tiers: Vec<(TensorId, Tier)>,
    /// Size of warm tensors in bytes before the tick.
    pub warm_bytes_before: u64,
    /// Estimated size of warm tensors in bytes after the tick.
    pub warm_bytes_after: u64,
    /// Estimated size in bytes by which all tensors would exceed the budget of the policy after the tick.
    pub over_budget: u64,
}

/// Result of a tick; returned by [`TensorStore::tick`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TickReport {
    /// Tensors re-encoded with fewer bits.
    pub moves: Vec<TierMove>,
    /// Number of moves skipped because the tensor was changed in the meantime or its data is needed by dependents.
    pub skipped: usize,
    /// Number of tensors whose wanted tier changed.
    pub wanted_tiers: usize,
    /// Size in bytes of the moved records before the tick.
    pub bytes_before: u64,
    /// Size in bytes of the moved records after the tick.
    pub bytes_after: u64,
    /// Estimated size in bytes by which all tensors exceed the budget of the policy: new data, pins, error limits
    /// and lossless tensors keep their bits.
    pub over_budget: u64,
}

impl TensorStore {
    /// Applies the policy to every tensor, as of `now_ms` in milliseconds since 1970: rarely used tensors are
    /// re-encoded with fewer bits. No other operation lowers the precision of stored data. Also persists the usage and
    /// the wanted tier of each tensor.
    ///
    /// Frames of a temporal tensor are re-encoded in runs, each a key frame with the frames that depend on it. The last run
    /// ages with the use of the tensor, an old one with the reads of its frames. Frames are evicted only if the tensor has
    /// a reconstruction policy.
    ///
    /// Call it periodically, for example every few minutes. Changes are committed in small batches: after a crash,
    /// every tensor has either its old or its new precision.
    ///
    /// # Errors
    /// Returns [`StoreError::TimeOutOfRange`] if `now_ms` is more than a day from the clock, unless the clock is
    /// simulated; [`StoreError::Damaged`], [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::NoSpace`]
    /// or [`StoreError::Io`], wrapped in [`StoreError::Stopped`] if some tensors were already moved.
    pub fn tick(&self, now_ms: u64) -> Result<TickReport, StoreError> {
        let (core, now) = (&self.core, now_ms);
        core.log()?.check()?;
        core.check_time(now)?;
        core.reset_future_dates(now)?;
        core.forget_runs();
        let cap = core.index.cap(); // not locked: a concurrent tick only finds less to do
        let (tensors, plan) = core.plan(now, &cap)?;
        let wanted_tiers = wanted_tiers(&plan, &tensors);
        for (looked, tier) in &wanted_tiers {
            // `touch` marks the entry as dirty, so that the wanted tier is written below.
            core.index.touch(&looked.key, |_| {}, |entry| entry.want(*tier));
        }
        let mut mover = Mover::new(core, &tensors, now, wanted_tiers.len());
        let done = mover.execute_all(&plan.moves).and_then(|()| {
            core.index.set_cap(plan.state);
            core.log()?.write_uses(now)?;
            core.log()?.flush()
        });
        let report = TickReport { over_budget: plan.over_budget, ..mover.report };
        done.map_err(|error| error.after("tick", report.moves.len(), plan.moves.len(), "moves"))?;
        Ok(report)
    }

    /// Returns the changes that [`tick`](Self::tick) would make. `now_ms` may be in the future.
    ///
    /// # Errors
    /// Returns [`StoreError::TimeOutOfRange`] if `now_ms` is more than a day before the clock, unless the clock is
    /// simulated;
    /// [`StoreError::Damaged`] or [`StoreError::Io`].
    pub fn plan(&self, now_ms: u64) -> Result<TickPlan, StoreError> {
        let (core, now) = (&self.core, now_ms);
        core.check_not_past(now)?;
        let cap = core.index.cap();
        let (tensors, plan) = core.plan(now, &cap)?;
        Ok(TickPlan {
            moves: plan.moves.iter().map(|planned| tier_move(planned, &tensors)).collect(),
            wanted_tiers: wanted_tiers(&plan, &tensors).iter().map(|(looked, tier)| (looked.id(), *tier)).collect(),
            warm_bytes_before: plan.warm_bytes_before,
            warm_bytes_after: plan.warm_bytes_after,
            over_budget: plan.over_budget,
        })
    }
}

impl Core {
    /// Runs the policy on all tensors, sorted by id.
    fn plan(&self, now: u64, cap: &crate::policy::CapState) -> Result<(Vec<Looked>, TierPlan), StoreError> {
        let mut limited = false;
        // A budget needs sizes without heads, and thus the number of values.
        let all = self.config.policy.budget.is_some();
        self.index.for_each(|entry| limited |= (all || entry.traits.max_error.is_some()) && entry.facts().is_none());
        if limited {
            self.load_facts()?;
        }
        let mut tensors = Vec::with_capacity(self.index.len());
        let mut temporal = Vec::new();
        self.index.for_each(|entry| {
            if entry.traits.temporal {
                temporal.push((entry.key.clone(), Found::of(entry)));
            } else {
                let traits = entry.traits;
                let candidate = Candidate {
                    usage: limit_date(entry.usage.load(), now),
                    stored: traits.tier,
                    wanted: entry.wanted(),
                    changed_at: changed_at(entry.changed_at, now),
                    pinned: traits.pinned,
                    max_error: traits.max_error,
                    bounds: TierBounds::default(),
                    reconstructable: traits.reconstructable,
                    bytes: entry.place.len,
                    overhead: entry.facts().map_or(0, |(count, _)| overhead(entry.place.len, traits.tier, count)),
                    // Data with fewer bits than new data was re-encoded before.
                    added_overhead: if traits.tier > self.config.policy.first_tier { 0 } else { TIMES_BYTES },
                };
                let bound = traits.max_error.and(entry.facts()).map(|(_, bound)| bound);
                tensors.push(Looked { key: entry.key.clone(), candidate, bound, frames: None, last: true });
            }
        });
        for (key, found) in temporal {
            self.look_at_frames(now, key, &found, &mut tensors)?;
        }
        let order = |looked: &Looked| looked.frames.as_ref().map_or(0, |frames| frames.start);
        tensors.par_sort_unstable_by(|a, b| a.key.cmp(&b.key).then(order(a).cmp(&order(b)))); // for a deterministic plan
        for tensor in &mut tensors {
            if let Some(bound) = tensor.bound {
                tensor.candidate.bounds = bounds_after(tensor.candidate.stored, bound);
            }
        }
        let candidates = tensors.iter().map(|tensor| tensor.candidate);
        let plan = plan(&self.config.policy, now, candidates, &cap_at(*cap, now));
        Ok((tensors, plan))
    }
}

impl Core {
    /// Adds the runs of a temporal tensor to the candidates.
    fn look_at_frames(&self, now: u64, key: Key, found: &Found, tensors: &mut Vec<Looked>) -> Result<(), StoreError> {
        let runs = self.frame_runs(&key, found)?;
        let reconstructable = self.frames_of_base(&key, found);
        let count = runs.len();
        for (i, run) in runs.into_iter().enumerate() {
            let last = i + 1 == count;
            let usage = if last { found.usage } else { self.run_usage(&key, &run, now) };
            // Frames that cannot be reconstructed are never evicted. A limit that every bound meets prevents only that.
            let reconstructable = run.frames.end <= reconstructable;
            let kept = if reconstructable { None } else { Some(f32::INFINITY) };
            let candidate = Candidate {
                usage: limit_date(usage, now),
                stored: run.tier,
                wanted: found.decided.filter(|_| last).unwrap_or(run.tier),
                changed_at: changed_at(run.changed_at, now),
                pinned: found.traits.pinned,
                max_error: found.traits.max_error.or(kept),
                bounds: TierBounds::default(),
                reconstructable,
                bytes: run.bytes,
                overhead: run.overhead,
                added_overhead: run.appended.saturating_mul(TIMES_BYTES),
            };
            let bound = found.traits.max_error.map(|_| run.bound);
            tensors.push(Looked { key: key.clone(), candidate, bound, frames: Some(run.frames), last });
        }
        Ok(())
    }

    /// Returns the number of frames of a temporal tensor, counted from the first one, that its base can reconstruct.
    fn frames_of_base(&self, key: &[u8], found: &Found) -> u64 {
        if !found.traits.reconstructable {
            return 0;
        }
        let base = self.links().base(&TensorId::of_key(key)).cloned();
        let frames = base.and_then(|base| self.find(&base.key())).map(|base| match &base.frames {
            Some(frames) => frames.len() as u64,
            None => u64::MAX,
        });
        frames.unwrap_or(0)
    }
}

/// Bytes of the times and the sequence number that a head states only after its data was re-encoded.
const TIMES_BYTES: u64 = 10;

/// Returns the bytes of a record of `count` values that are not bits of values.
fn overhead(bytes: u64, tier: Tier, count: u64) -> u64 {
    bytes.saturating_sub((count.saturating_mul(u64::from(tier.bits()))).div_ceil(8))
}

/// Returns the changed wanted tiers of a plan. Of a temporal tensor, the last run decides, because the next frame follows it.
fn wanted_tiers<'t>(plan: &TierPlan, tensors: &'t [Looked]) -> Vec<(&'t Looked, Tier)> {
    let looked = plan.wanted_tiers.iter().map(|wanted| (&tensors[wanted.index], wanted.tier));
    looked.filter(|(looked, _)| looked.last).collect()
}

/// Returns upper limits for the bound of the data at each tier. The current bound limits the step between codes, and
/// thus the magnitude of the values.
fn bounds_after(stored: Tier, now: f32) -> TierBounds {
    let largest = match stored.width() {
        Some(width) => 2.0 * now * (f32::from(width.qmax()) + 1.0),
        // The bound of f16 is 2^-11 of the largest value or more; without an error, the values are f32.
        None if stored == Tier::F16 && now > 0.0 => now * 2048.0,
        None => return TierBounds::default(),
    };
    TierBounds::new(Tier::ALL.map(|tier| match tier.width() {
        _ if tier == stored => now,
        Some(width) => (now + bound(width, largest)).next_up(),
        None => f32::INFINITY,
    }))
}
