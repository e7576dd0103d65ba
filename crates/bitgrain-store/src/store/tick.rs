//! What the policy does to a store, now and then.

use bitgrain_codec::bound;
use rayon::prelude::*;

use super::future_dates::{cap_at, changed_at, limit_date};
use super::tier_moves::{Looked, Mover, tier_move};
use super::{Core, TensorStore};
use crate::policy::{Candidate, Reason, TierBounds, TierPlan, plan};
use crate::{StoreError, TensorId, Tier};

/// A tensor that gets fewer bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierMove {
    /// The tensor.
    pub id: TensorId,
    /// Tier of its data before.
    pub from: Tier,
    /// And after.
    pub to: Tier,
    /// Why.
    pub reason: Reason,
    /// Bytes of its record before.
    pub bytes: u64,
}

/// What a tick would do: see [`TensorStore::plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TickPlan {
    /// Tensors that would get fewer bits.
    pub moves: Vec<TierMove>,
    /// Tensors whose use asks for another tier than at the last tick, and that tier.
    pub wishes: Vec<(TensorId, Tier)>,
    /// Bytes of warm tensors before.
    pub warm_bytes_before: u64,
    /// And after, as estimated.
    pub warm_bytes_after: u64,
}

/// What a tick did: see [`TensorStore::tick`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TickReport {
    /// Tensors that got fewer bits.
    pub moves: Vec<TierMove>,
    /// Moves that were not made, as somebody used the tensor meanwhile or others need its data.
    pub skipped: usize,
    /// Tensors whose use asks for another tier than before.
    pub wishes: usize,
    /// Bytes of the records that were moved, before and after.
    pub bytes_before: u64,
    /// After.
    pub bytes_after: u64,
}

impl TensorStore {
    /// Applies the policy to every tensor, as of `now_ms` in milliseconds since 1970: tensors that are used less are re-encoded
    /// with fewer bits. Only this lowers the precision of stored data. Also stores how tensors were used and which tier their
    /// use asks for. Frames of temporal tensors stay as they are.
    ///
    /// To be called now and then, such as every few minutes. Everything in it is durable in small batches: a crash in the
    /// middle leaves every tensor as it was or as it should be.
    ///
    /// # Errors
    /// [`StoreError::TimeOutOfRange`] if `now_ms` is more than a day away from the clock, unless that is simulated;
    /// [`StoreError::Damaged`], [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::NoSpace`],
    /// [`StoreError::Io`], in a [`StoreError::Stopped`] if some tensors were moved before.
    pub fn tick(&self, now_ms: u64) -> Result<TickReport, StoreError> {
        let (core, now) = (&self.core, now_ms);
        core.log()?.check()?;
        core.check_time(now)?;
        core.redate(now);
        let cap = core.index.cap(); // not held: others may tick at the same time, and find less to do
        let (tensors, plan) = core.plan(now, &cap)?;
        for wish in &plan.wishes {
            // Touched so that it is written below.
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

    /// What [`tick`](Self::tick) would do, without doing it. `now_ms` may lie in the future.
    ///
    /// # Errors
    /// [`StoreError::TimeOutOfRange`] if `now_ms` is more than a day before the clock, unless that is simulated;
    /// [`StoreError::Damaged`], [`StoreError::Io`].
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
    /// What the policy says of all tensors, in the order of their ids.
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
        tensors.par_sort_unstable_by(|a, b| a.key.cmp(&b.key)); // no chance has a part in it
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

/// The bounds that data with this bound could have at each tier: not more than these. What is known is how large the steps
/// between codes are at most, and so how large the values.
fn bounds_after(stored: Tier, now: f32) -> TierBounds {
    let Some(width) = stored.width() else { return TierBounds::default() };
    let largest = 2.0 * now * (f32::from(width.qmax()) + 1.0);
    TierBounds::new(Tier::ALL.map(|tier| match tier.width() {
        _ if tier == stored => now,
        Some(width) => (now + bound(width, largest)).next_up(),
        None => f32::INFINITY,
    }))
}
