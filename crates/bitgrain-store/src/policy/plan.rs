//! Plan for all tensors: each decided on its own, then the cap on the total size of warm tensors; or a budget for all of
//! them.

use std::cmp::Reverse;

use super::budget::plan_budget;
use super::config::millis;
use super::{Candidate, Decision, PolicyConfig, decide};
use crate::Tier;

/// Maximum difference in milliseconds at which a timestamp in the future is still trusted: a day.
const CLOCK_ERROR: u64 = 24 * 3_600_000;

/// State of the cap between plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapState {
    /// Time of the last downgrade for the cap.
    pub last_downgrade: Option<u64>,
}

/// Changes to make; tensors are identified by their index among the candidates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TierPlan {
    /// Data to re-encode with fewer bits: first by use, in the order of the candidates, then for the cap, least
    /// recently used first.
    pub moves: Vec<PlannedMove>,
    /// Tensors whose wanted tier changes, in the order of the candidates.
    pub wanted_tiers: Vec<WantedTier>,
    /// Size in bytes of warm tensors before the plan.
    pub warm_bytes_before: u64,
    /// Estimated size in bytes of warm tensors after the plan.
    pub warm_bytes_after: u64,
    /// State to pass to the next plan once this one has been executed.
    pub state: CapState,
    /// Estimated size in bytes beyond the budget after the plan, because residency, pins, error limits, the lowest tier or
    /// lossless tensors do not allow fewer bits. 0 without a budget.
    pub over_budget: u64,
}

/// Data to re-encode with fewer bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedMove {
    /// Index among the candidates.
    pub index: usize,
    /// New tier.
    pub tier: Tier,
    /// Reason for the move.
    pub reason: Reason,
}

/// Reason for re-encoding data with fewer bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The score fell.
    Use,
    /// The total size of warm tensors exceeded the cap.
    WarmCap,
    /// The total size of all tensors exceeded the budget.
    Budget,
}

/// A change of a wanted tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedTier {
    /// Index among the candidates.
    pub index: usize,
    /// Tier that its use asks for.
    pub tier: Tier,
}

/// Plans for all tensors at `now`. The plan does not depend on the order of the candidates, except for tensors last
/// used in the same millisecond: the earlier candidate is taken first.
///
/// Warm tensors have at most 7 bits, but more than the lowest tier. While their total size exceeds the cap, the least
/// recently used go to 5 bits, or to the lowest tier if that has more, regardless of residency, at most once per interval.
/// A return to 7 bits is granted only while the hysteresis' share of the cap stays free, the most recently used first.
///
/// With a [`budget`](PolicyConfig::budget), only the total size matters; scores and cap do not apply.
#[must_use]
pub fn plan(
    config: &PolicyConfig,
    now: u64,
    candidates: impl IntoIterator<Item = Candidate>,
    state: &CapState,
) -> TierPlan {
    let mut plan = TierPlan { state: *state, ..TierPlan::default() };
    if let Some(budget) = config.budget {
        plan_budget(config, now, candidates, budget, &mut plan);
        return plan;
    }
    let capped = config.capped_tier();
    let (mut falling, mut rising) = (Vec::new(), Vec::new());
    for (index, c) in candidates.into_iter().enumerate() {
        // The cap reduced the wanted tier to 5 bits last time, so it is decided again. At the lowest tier, 5 bits may have
        // been the wanted tier without a cap.
        let asked = if c.wanted == capped && capped < config.least_tier { Tier::Warm } else { c.wanted };
        let Decision { step, wanted } = decide(config, now, &Candidate { wanted: asked, ..c });
        if is_warm(c.stored, config) {
            plan.warm_bytes_before = plan.warm_bytes_before.saturating_add(c.bytes);
        }
        let tier = step.unwrap_or(c.stored);
        if is_warm(tier, config) {
            plan.warm_bytes_after = plan.warm_bytes_after.saturating_add(c.bytes_at(tier));
        }
        if let Some(tier) = step {
            plan.moves.push(PlannedMove { index, tier, reason: Reason::Use });
        }
        let held = c.pinned.is_some_and(|pin| pin != Tier::Absent);
        let sizes = [c.bytes_at(Tier::Warm), c.bytes_at(capped)];
        let entry = Entry {
            last: c.usage.last,
            index,
            bytes: c.bytes,
            sizes,
            stored: c.stored,
            wanted,
            before: c.wanted,
            held,
        };
        if step.is_none() && is_warm(c.stored, config) && c.stored < capped && c.may_step_down_to(capped, config) {
            falling.push(entry);
        } else if step.is_none() && c.stored > Tier::Warm && wanted == Tier::Warm && !held {
            rising.push(entry);
        } else {
            plan.want(&entry, wanted);
        }
    }
    plan.shrink(config, now, falling);
    plan.grant(config, rising);
    plan.wanted_tiers.sort_unstable_by_key(|wanted| wanted.index);
    plan
}

/// State of a tensor for the cap. Ordered from least to most recently used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    last: u64,
    index: usize,
    bytes: u64,
    /// Estimated size in bytes at 7 bits and at the capped tier.
    sizes: [u64; 2],
    stored: Tier,
    /// Tier of the next write without the cap.
    wanted: Tier,
    /// Tier of the next write before this plan.
    before: Tier,
    /// Whether a pin determines the tier of the next write.
    held: bool,
}

impl Entry {
    /// Estimates the size at 7 bits or at the capped tier, if that counts for the cap; otherwise 0.
    fn warm_bytes(&self, tier: Tier, config: &PolicyConfig) -> u64 {
        let [warm, capped] = self.sizes;
        match tier {
            tier if !is_warm(tier, config) => 0,
            Tier::Warm => warm,
            _ => capped,
        }
    }
}

impl TierPlan {
    /// Moves warm tensors to fewer bits while the total exceeds the cap, unless the last downgrade was too recent.
    fn shrink(&mut self, config: &PolicyConfig, now: u64, mut falling: Vec<Entry>) {
        let interval = millis(config.warm_downgrade_interval);
        let due = self.state.last_downgrade.is_none_or(|last| {
            // A timestamp far in the future comes from a wrong clock; it must not block downgrades forever.
            now.saturating_sub(last) >= interval || last.saturating_sub(now) > CLOCK_ERROR
        });
        if due && self.warm_bytes_after > config.warm_byte_cap {
            falling.sort_unstable();
        }
        for entry in falling {
            if !due || self.warm_bytes_after <= config.warm_byte_cap {
                self.want(&entry, entry.wanted);
                continue;
            }
            let tier = config.capped_tier();
            self.moves.push(PlannedMove { index: entry.index, tier, reason: Reason::WarmCap });
            let left = entry.warm_bytes(tier, config);
            let saved = entry.bytes.saturating_sub(left);
            self.warm_bytes_after -= saved.min(self.warm_bytes_after);
            self.state.last_downgrade = Some(now);
            self.want(&entry, if entry.wanted == Tier::Warm { tier } else { entry.wanted });
        }
    }

    /// Grants 7 bits to tensors below while the total stays clear of the cap, and the capped tier otherwise.
    fn grant(&mut self, config: &PolicyConfig, mut rising: Vec<Entry>) {
        rising.sort_unstable_by_key(|entry| (Reverse(entry.last), entry.index));
        let limit = cap_for_upgrades(config);
        let mut promised = self.warm_bytes_after;
        for entry in rising {
            let has = if is_warm(entry.stored, config) { entry.bytes } else { 0 };
            let with = |tier| (promised - has.min(promised)).saturating_add(entry.warm_bytes(tier, config));
            let tier = if with(Tier::Warm) <= limit { Tier::Warm } else { config.capped_tier() };
            promised = with(tier);
            self.want(&entry, tier);
        }
    }

    fn want(&mut self, entry: &Entry, tier: Tier) {
        // While a pin applies, it alone decides; a wanted tier derived from it would outlive the pin.
        if tier != entry.before && !entry.held {
            self.wanted_tiers.push(WantedTier { index: entry.index, tier });
        }
    }
}

/// Estimates the size at tier `to` of data that takes `bytes` at tier `from`, in blocks of 64 values: exact except for
/// a last, short block. Longer blocks take less. Returns 0 for absent data.
///
/// ```
/// use bitgrain_store::{Tier, policy::estimated_bytes};
/// assert_eq!(estimated_bytes(60, Tier::Warm, Tier::WarmAggressive), 44); // 56 + 4 bytes become 40 + 4
/// assert_eq!(estimated_bytes(256, Tier::Lossless, Tier::Hot), 68);
/// ```
#[must_use]
pub fn estimated_bytes(bytes: u64, from: Tier, to: Tier) -> u64 {
    // Half bits per value: the code and its share of a 32-bit scale.
    let half_bits = |tier: Tier| match tier {
        Tier::Lossless => 64,
        Tier::F16 => 32,
        Tier::Absent => 0,
        tier => 2 * u64::from(tier.bits()) + 1,
    };
    if from == to {
        return bytes;
    }
    if from == Tier::Absent {
        return 0;
    }
    // `bytes * to / from`, rounded up, without an overflow when the size shrinks.
    let (from, to) = (half_bits(from), half_bits(to));
    (bytes / from).saturating_mul(to).saturating_add((bytes % from * to).div_ceil(from))
}

/// Returns whether a tier counts for the cap: at most 7 bits, but more than the lowest tier.
pub(super) fn is_warm(tier: Tier, config: &PolicyConfig) -> bool {
    tier == Tier::Warm || (tier > Tier::Warm && tier < config.least_tier)
}

/// Returns the total size in bytes up to which 7 bits are granted again.
fn cap_for_upgrades(config: &PolicyConfig) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the cap, at least 0; a byte more or less does not matter"
    )]
    let limit = (config.warm_byte_cap as f64 * f64::from(1.0 - config.warm_hysteresis)) as u64;
    limit
}
