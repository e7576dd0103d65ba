//! Plan for a size limit: the bits of every tensor such that the error of reads is least.
//!
//! A step to the next tier saves some bytes and adds some error to every read of the tensor. Steps are taken in the order
//! of added error per saved byte until the total fits. Each further step of a tensor saves as many bytes as the one before
//! and adds four times the squared error, so this order is optimal up to the size of the last step.
//!
//! Data that is newer than the minimum residency is left alone, because its reads are not known yet and lost precision does
//! not return.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::config::millis;
use super::score::halved;
use super::{Candidate, PlannedMove, PolicyConfig, Reason, TierPlan, estimated_bytes};
use crate::Tier;

/// Time without access in milliseconds after which the expected number of reads is halved: a week, so that a weekly
/// report still counts.
const READS_HALF_LIFE: u64 = 7 * 24 * 3_600_000;
/// Expected reads of a tensor that is never read: they keep its error finite where that costs little.
const LEAST_READS: f64 = 1.0 / 1024.0;

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
    let mut total = candidates.iter().fold(0_u64, |sum, c| sum.saturating_add(c.bytes));
    let mut targets: Vec<Tier> = candidates.iter().map(|c| c.stored).collect();
    let mut steps: BinaryHeap<Step> = BinaryHeap::new();
    if total > budget {
        let known = |c: &Candidate| now.saturating_sub(c.changed_at) >= millis(config.residency);
        let known = candidates.iter().enumerate().filter(|(_, c)| known(c));
        steps.extend(known.filter_map(|(i, c)| Step::after(config, now, c, i, c.stored)));
    }
    while total > budget {
        let Some(Step { index, tier, saved, .. }) = steps.pop() else { break };
        total -= saved.min(total);
        targets[index] = tier;
        steps.extend(Step::after(config, now, &candidates[index], index, tier));
    }
    for (index, (c, &tier)) in candidates.iter().zip(&targets).enumerate() {
        let (before, after) = (c.bytes, estimated_bytes(c.bytes, c.stored, tier));
        if super::plan::is_warm(c.stored, config) {
            plan.warm_bytes_before = plan.warm_bytes_before.saturating_add(before);
        }
        if super::plan::is_warm(tier, config) {
            plan.warm_bytes_after = plan.warm_bytes_after.saturating_add(after);
        }
        if tier != c.stored {
            plan.moves.push(PlannedMove { index, tier, reason: Reason::Budget });
        }
    }
    plan.over_budget = total.saturating_sub(budget);
}

/// A step of one tensor to the next tier. Ordered so that the cheapest step is the greatest.
#[derive(Debug)]
struct Step {
    /// Added squared error, relative to the largest value and weighted by reads, per saved byte.
    price: f64,
    index: usize,
    tier: Tier,
    saved: u64,
}

impl Step {
    /// Returns the step of candidate `index` from `tier` to the next one that its limits allow.
    fn after(config: &PolicyConfig, now: u64, c: &Candidate, index: usize, tier: Tier) -> Option<Self> {
        let lower = |next: &Tier| *next > tier && next.width().is_some() && *next <= config.least_tier;
        let next = Tier::ALL.into_iter().find(lower).filter(|next| c.may_step_down_to(*next, config))?;
        let size = |at: Tier| estimated_bytes(c.bytes, c.stored, at);
        let saved = size(tier).saturating_sub(size(next));
        let added = reads(c, now) * (squared_error(next) - squared_error(tier));
        #[expect(clippy::cast_precision_loss, reason = "a size of a tensor, for a ratio")]
        let price = added / saved.max(1) as f64;
        Some(Self { price, index, tier: next, saved })
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        other.price.total_cmp(&self.price).then_with(|| other.index.cmp(&self.index))
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

/// Returns the reads to expect: all accesses so far, halved for each week since the last one.
fn reads(c: &Candidate, now: u64) -> f64 {
    let fade = f64::from(halved(c.usage.age(now.max(c.usage.last)), READS_HALF_LIFE));
    #[expect(clippy::cast_precision_loss, reason = "a weight")]
    let accesses = c.usage.accesses as f64;
    (accesses * fade).max(LEAST_READS)
}

/// Returns the squared error bound of a tier, relative to the largest value.
fn squared_error(tier: Tier) -> f64 {
    let bound = match tier.width() {
        Some(width) => 0.5 / f64::from(width.qmax()),
        None if tier == Tier::F16 => 1.0 / 2048.0,
        None => 0.0,
    };
    bound * bound
}
