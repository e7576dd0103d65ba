//! Plan for a size limit: the bits of every tensor such that the error of reads is least.
//!
//! A step to the next tier saves some bytes and adds some error to every read of the tensor. Steps are taken in the order
//! of added error per saved byte until the total fits. Each further step of a tensor saves as many bytes as the one before
//! and adds at least as much error, so this order is optimal up to the size of the last step; exchanges of single steps
//! then use what that step saved too much.
//!
//! New data is left alone for the minimum residency, because its reads are not known yet and lost precision does not
//! return.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::config::millis;
use super::score::halved;
use super::{Candidate, PlannedMove, PolicyConfig, Reason, TierPlan};
use crate::Tier;

/// Time without access in milliseconds after which the expected number of reads is halved: a week, so that a weekly
/// report still counts.
const READS_HALF_LIFE: u64 = 7 * 24 * 3_600_000;
/// Expected reads of a tensor that was only written. They order tensors without reads, and keep their error finite where
/// that costs little.
const UNREAD: f64 = 1.0 / 8.0;
/// Maximum number of exchanges: each takes one pass over all tensors, and most plans need none or a few.
const EXCHANGES: usize = 64;

/// Plans to bring the total size of the candidates to at most `budget` bytes. Data that fits is not changed, and no data
/// is evicted.
pub(super) fn plan_budget(
    config: &PolicyConfig,
    now: u64,
    candidates: impl IntoIterator<Item = Candidate>,
    budget: u64,
    plan: &mut TierPlan,
) {
    let candidates: Vec<Candidate> = candidates.into_iter().collect();
    let mut allocation = Allocation::new(config, now, &candidates);
    if allocation.total > budget {
        allocation.lower(budget);
        allocation.exchange(budget);
    }
    for (index, (c, &tier)) in candidates.iter().zip(&allocation.tiers).enumerate() {
        if super::plan::is_warm(c.stored, config) {
            plan.warm_bytes_before = plan.warm_bytes_before.saturating_add(c.bytes);
        }
        if super::plan::is_warm(tier, config) {
            plan.warm_bytes_after = plan.warm_bytes_after.saturating_add(c.bytes_at(tier));
        }
        if tier != c.stored {
            plan.moves.push(PlannedMove { index, tier, reason: Reason::Budget });
        }
    }
    plan.over_budget = allocation.total.saturating_sub(budget);
}

/// Tiers assigned to the candidates.
struct Allocation<'a> {
    config: &'a PolicyConfig,
    now: u64,
    candidates: &'a [Candidate],
    tiers: Vec<Tier>,
    /// Total size in bytes.
    total: u64,
}

impl<'a> Allocation<'a> {
    fn new(config: &'a PolicyConfig, now: u64, candidates: &'a [Candidate]) -> Self {
        let total = candidates.iter().fold(0_u64, |sum, c| sum.saturating_add(c.bytes));
        let tiers = candidates.iter().map(|c| c.stored).collect();
        Self { config, now, candidates, tiers, total }
    }

    /// Takes the steps with the least added error per saved byte until the total fits.
    fn lower(&mut self, budget: u64) {
        let mut steps: BinaryHeap<Step> =
            (0..self.tiers.len()).filter_map(|index| self.step_down(index)).map(Step).collect();
        while self.total > budget {
            let Some(Step(step)) = steps.pop() else { break };
            self.apply(&step);
            steps.extend(self.step_down(step.index).map(Step));
        }
    }

    /// Undoes steps that are not needed, and exchanges a step for another one that adds less error, while the total fits.
    fn exchange(&mut self, budget: u64) {
        for _ in 0..EXCHANGES {
            let Some(slack) = budget.checked_sub(self.total) else { return };
            let indices = 0..self.tiers.len();
            let ups: Vec<Change> = indices.clone().filter_map(|index| self.step_up(index)).collect();
            let unneeded = ups.iter().filter(|up| up.bytes <= slack).max_by(|a, b| a.error.total_cmp(&b.error));
            if let Some(up) = unneeded {
                let up = *up;
                self.apply(&up);
                continue;
            }
            let downs = Downs::new(indices.filter_map(|index| self.step_down(index)).collect());
            let best = ups.iter().filter_map(|up| {
                let down = downs.cheapest(up.bytes - slack, up.index)?;
                Some((up.error - down.error, *up, down))
            });
            // Sums of floats differ in their last bits; a gain that small could be undone again and again.
            let best = best.filter(|(gain, up, _)| *gain > 1e-9 * up.error).max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, up, down)) = best else { return };
            self.apply(&up);
            self.apply(&down);
        }
    }

    fn apply(&mut self, change: &Change) {
        let c = &self.candidates[change.index];
        self.total = self.total.saturating_sub(c.bytes_at(self.tiers[change.index]));
        self.total = self.total.saturating_add(c.bytes_at(change.tier));
        self.tiers[change.index] = change.tier;
    }

    /// Returns the step of a candidate to the next tier with fewer bytes that its limits allow.
    fn step_down(&self, index: usize) -> Option<Change> {
        let (c, tier) = (&self.candidates[index], self.tiers[index]);
        // Reads of data with fewer bits than new data has are known: it was re-encoded before.
        let known = c.stored > self.config.first_tier;
        if !known && self.now.saturating_sub(c.changed_at) < millis(self.config.residency) {
            return None;
        }
        let bytes = c.bytes_at(tier);
        let lower = Tier::ALL.into_iter().filter(|next| *next > tier && next.width().is_some());
        let mut allowed =
            lower.filter(|next| *next <= self.config.least_tier && c.may_step_down_to(*next, self.config));
        let next = allowed.find(|next| c.bytes_at(*next) < bytes)?;
        let error = reads(c, self.now) * (error_at(c, next) - error_at(c, tier));
        Some(Change { index, tier: next, bytes: bytes - c.bytes_at(next), error })
    }

    /// Returns the step of a candidate back towards its stored tier.
    fn step_up(&self, index: usize) -> Option<Change> {
        let (c, tier) = (&self.candidates[index], self.tiers[index]);
        let bytes = c.bytes_at(tier);
        let higher = |next: &Tier| *next < tier && (*next == c.stored || *next > c.stored && next.width().is_some());
        let mut higher = Tier::ALL.into_iter().rev().filter(higher).filter(|next| c.bytes_at(*next) > bytes);
        let mut next = higher.next()?;
        // Of two tiers of the same size, the one with more bits.
        next = higher.take_while(|other| c.bytes_at(*other) == c.bytes_at(next)).last().unwrap_or(next);
        let error = reads(c, self.now) * (error_at(c, tier) - error_at(c, next));
        Some(Change { index, tier: next, bytes: c.bytes_at(next) - bytes, error })
    }
}

/// A change of one tensor to a neighboring tier.
#[derive(Debug, Clone, Copy)]
struct Change {
    index: usize,
    tier: Tier,
    /// Difference in bytes.
    bytes: u64,
    /// Difference of the error relative to the largest value, weighted by reads.
    error: f64,
}

/// A step down. Ordered so that the one with the least added error per saved byte is the greatest.
#[derive(Debug)]
struct Step(Change);

impl Step {
    #[expect(clippy::cast_precision_loss, reason = "a size of a tensor, for a ratio")]
    fn price(&self) -> f64 {
        self.0.error / self.0.bytes.max(1) as f64
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        other.price().total_cmp(&self.price()).then_with(|| other.0.index.cmp(&self.0.index))
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Step {}

/// Steps down, sorted by saved bytes from most to fewest.
struct Downs {
    sorted: Vec<Change>,
    /// The two steps with the least error among the first `i + 1`: two, because one of them may be of the tensor that is
    /// raised.
    least: Vec<[Option<Change>; 2]>,
}

impl Downs {
    fn new(mut sorted: Vec<Change>) -> Self {
        sorted.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.index.cmp(&b.index)));
        let mut least = Vec::with_capacity(sorted.len());
        let mut two: [Option<Change>; 2] = [None, None];
        for change in &sorted {
            let less = |other: Option<Change>| other.is_none_or(|other| change.error < other.error);
            if less(two[0]) {
                two = [Some(*change), two[0]];
            } else if less(two[1]) {
                two[1] = Some(*change);
            }
            least.push(two);
        }
        Self { sorted, least }
    }

    /// Returns the step with the least error that saves at least `bytes`, of another tensor than `not`.
    fn cheapest(&self, bytes: u64, not: usize) -> Option<Change> {
        let count = self.sorted.partition_point(|change| change.bytes >= bytes);
        let two = self.least.get(count.checked_sub(1)?)?;
        two.iter().flatten().find(|change| change.index != not).copied()
    }
}

/// Returns the reads to expect: all accesses after the first write, halved for each week since the last one.
fn reads(c: &Candidate, now: u64) -> f64 {
    let fade = f64::from(halved(c.usage.age(now.max(c.usage.last)), READS_HALF_LIFE));
    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    let reads = c.usage.accesses.saturating_sub(1) as f64;
    // Nothing fades to 0: tensors that were not read for years would be lowered regardless of the bytes that saves.
    ((reads + UNREAD) * fade).max(f64::MIN_POSITIVE)
}

/// Returns the error bound of the data at `tier`, relative to the largest value: errors of successive encodings add up.
fn error_at(c: &Candidate, tier: Tier) -> f64 {
    error(c.stored) + if tier == c.stored { 0.0 } else { error(tier) }
}

/// Returns the error bound of one encoding, relative to the largest value.
fn error(tier: Tier) -> f64 {
    match tier.width() {
        Some(width) => 0.5 / f64::from(width.qmax()),
        None if tier == Tier::F16 => 1.0 / 2048.0,
        None => 0.0,
    }
}
