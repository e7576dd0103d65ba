//! Ticks: apply the tier policy to the store.

use bitgrain_codec::bound;
use rayon::prelude::*;

use super::future_dates::{cap_at, changed_at, limit_date};
use super::tier_moves::{Looked, Mover, tier_move};
use super::{Core, TensorStore};
use crate::policy::{Candidate, Reason, TierBounds, TierPlan, plan};
use crate::{StoreError, TensorId, Tier};

/// A tensor that is re-encoded with fewer bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierMove {
    /// Id of the tensor.
    pub id: TensorId,
    /// Tier of its data before the move.
    pub from: Tier,
    /// Tier of its data after the move.
    pub to: Tier,
    /// Reason for the move.
    pub reason: Reason,
    /// Size of its record in bytes before the move.
    pub bytes: u64,
}

/// Preview of a tick; returned by [`TensorStore::plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TickPlan {
    /// Tensors that would be re-encoded with fewer bits.
    pub moves: Vec<TierMove>,
    /// Tensors whose wanted tier would change, with the new one.
    pub wishes: Vec<(TensorId, Tier)>,
    /// Size of warm tensors in bytes before the tick.
    pub warm_bytes_before: u64,
    /// Estimated size of warm tensors in bytes after the tick.
    pub warm_bytes_after: u64,
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
    pub wishes: usize,
    /// Size in bytes of the moved records before the tick.
    pub bytes_before: u64,
    /// Size in bytes of the moved records after the tick.
    pub bytes_after: u64,
}

impl TensorStore {
    /// Applies the policy to every tensor, as of `now_ms` in milliseconds since 1970: rarely used tensors are
    /// re-encoded with fewer bits. No other operation lowers the precision of stored data. Also persists the usage and
    /// the wanted tier of each tensor. Frames of temporal tensors are not re-encoded.
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
        core.redate(now);
        let cap = core.index.cap(); // not locked: a concurrent tick only finds less to do
        let (tensors, plan) = core.plan(now, &cap)?;
        for wish in &plan.wishes {
            // `touch` marks the entry as dirty, so that the wanted tier is written below.
            core.index.touch(&tensors[wish.index].key, |_| {}, |entry| entry.want(wish.tier));
        }
        let mut mover = Mover::new(core, &tensors, now, plan.wishes.len());
        let done = mover.carry_out_all(&plan.moves).and_then(|()| {
            core.index.set_cap(plan.state);
            core.log()?.write_uses(now)?;
            core.log()?.flush()
        });
        let report = mover.report;
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
            wishes: plan.wishes.iter().map(|wish| (tensors[wish.index].id(), wish.tier)).collect(),
            warm_bytes_before: plan.warm_bytes_before,
            warm_bytes_after: plan.warm_bytes_after,
        })
    }
}

impl Core {
    /// Runs the policy on all tensors, sorted by id.
    fn plan(&self, now: u64, cap: &crate::policy::CapState) -> Result<(Vec<Looked>, TierPlan), StoreError> {
        let mut limited = false;
        self.index.for_each(|entry| limited |= entry.traits.max_error.is_some() && entry.facts().is_none());
        if limited {
            self.learn_all()?;
        }
        let mut tensors = Vec::with_capacity(self.index.len());
        self.index.for_each(|entry| {
            if !entry.traits.temporal {
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
                };
                let bound = traits.max_error.and(entry.facts()).map(|(_, bound)| bound);
                tensors.push(Looked { key: entry.key.clone(), candidate, bound });
            }
        });
        tensors.par_sort_unstable_by(|a, b| a.key.cmp(&b.key)); // for a deterministic plan
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

/// Returns upper limits for the bound of the data at each tier. The current bound limits the step between codes, and
/// thus the magnitude of the values.
fn bounds_after(stored: Tier, now: f32) -> TierBounds {
    let Some(width) = stored.width() else { return TierBounds::default() };
    let largest = 2.0 * now * (f32::from(width.qmax()) + 1.0);
    TierBounds::new(Tier::ALL.map(|tier| match tier.width() {
        _ if tier == stored => now,
        Some(width) => (now + bound(width, largest)).next_up(),
        None => f32::INFINITY,
    }))
}
