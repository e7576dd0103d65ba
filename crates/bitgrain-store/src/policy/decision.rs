//! Tier decision for a single tensor.

use super::config::millis;
use super::{PolicyConfig, Usage, estimated_bytes, score};
use crate::Tier;

/// State of a tensor that the policy depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Accesses of the tensor.
    pub usage: Usage,
    /// Tier of its data.
    pub stored: Tier,
    /// Wanted tier of the last decision; the stored tier if there was no decision.
    pub wanted: Tier,
    /// Time at which its data reached the stored tier.
    pub changed_at: u64,
    /// Tier that the tensor is pinned to.
    pub pinned: Option<Tier>,
    /// Largest error bound allowed.
    pub max_error: Option<f32>,
    /// Bound that the data would have at each tier.
    pub bounds: TierBounds,
    /// Whether the tensor can be reconstructed when its data is evicted.
    pub reconstructable: bool,
    /// Size of its records in bytes.
    pub bytes: u64,
    /// Part of `bytes` that does not depend on the bits of a value: heads, ids, user metadata, scales, the data of a
    /// reconstruction. 0 if it is not known; then [`estimated_bytes`] estimates sizes at other tiers.
    pub overhead: u64,
    /// Bytes that re-encoding adds to its heads, such as the time of the put, which then differs from that of the record.
    pub added_overhead: u64,
}

impl Candidate {
    /// Estimates the size of its records in bytes at `tier`.
    pub(super) fn bytes_at(&self, tier: Tier) -> u64 {
        let (from, to) = (u64::from(self.stored.bits()), u64::from(tier.bits()));
        if self.overhead == 0 || tier == self.stored || from == 0 {
            return estimated_bytes(self.bytes, self.stored, tier);
        }
        let values = self.bytes.saturating_sub(self.overhead);
        let values = (values / from).saturating_mul(to).saturating_add((values % from * to).div_ceil(from));
        self.overhead.min(self.bytes).saturating_add(self.added_overhead).saturating_add(values)
    }

    /// Returns whether the policy may re-encode the data at `tier`.
    pub(super) fn may_step_down_to(&self, tier: Tier, config: &PolicyConfig) -> bool {
        if self.stored == Tier::Lossless || self.pinned.is_some_and(|pin| tier > pin) {
            return false;
        }
        if tier == Tier::Absent {
            // A reconstruction guarantees no bound, so a tensor with an error limit keeps its data.
            return config.absent.allows(self.reconstructable) && self.max_error.is_none();
        }
        self.max_error.is_none_or(|limit| self.bounds.at(tier) <= limit)
    }
}

/// Total error bound that a tensor's data would have at each tier, summed over all encodings since the last `put`.
/// Unknown bounds are infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierBounds([f32; Tier::COUNT]);

impl TierBounds {
    /// Creates bounds in the order of [`Tier::ALL`].
    #[must_use]
    pub const fn new(bounds: [f32; Tier::COUNT]) -> Self {
        Self(bounds)
    }

    /// Returns the bound at `tier`.
    #[must_use]
    pub const fn at(self, tier: Tier) -> f32 {
        self.0[tier.rank()]
    }
}

/// All bounds unknown.
impl Default for TierBounds {
    fn default() -> Self {
        Self([f32::INFINITY; Tier::COUNT])
    }
}

/// Decision about a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Tier with fewer bits to re-encode the data at now; `None` leaves the data unchanged.
    pub step: Option<Tier>,
    /// Tier that the use asks for. If it is above the stored tier, it takes effect with the next put.
    pub wanted: Tier,
}

impl Decision {
    /// Returns whether the data stays and the use asks for its tier.
    #[must_use]
    pub fn keeps(self, stored: Tier) -> bool {
        self.step.is_none() && self.wanted == stored
    }
}

/// Class of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Hot,
    Warm,
    Cold,
}

/// Decides about a single tensor at `now`; [`plan`](super::plan()) also applies the cap on warm bytes.
///
/// Data steps down one tier at a time, from 16 bits to 8 to 7 to [`least_tier`](PolicyConfig::least_tier) to none, each
/// step after the minimum residency. 5 bits are used where fewer are not allowed, or for the cap. A pinned tensor is written at its pin; data above the pin
/// steps down with its use, but never below the pin. A pin at absent has no effect. Lossless data is never re-encoded.
#[must_use]
pub fn decide(config: &PolicyConfig, now: u64, candidate: &Candidate) -> Decision {
    let c = candidate;
    if c.stored == Tier::Lossless {
        return Decision { step: None, wanted: Tier::Lossless };
    }
    let now = now.max(c.usage.last);
    let score = score(&c.usage, now, config);
    let class = class(score, c.stored.min(c.wanted), config);
    let resident = now.saturating_sub(c.changed_at) >= millis(config.residency);
    let step = if resident { step(config, now, c, score, class) } else { None };
    let wanted = match c.pinned {
        Some(pin) if pin != Tier::Absent => pin,
        _ => step.filter(|tier| *tier != Tier::Absent).unwrap_or_else(|| wanted(config, c, class)),
    };
    Decision { step, wanted }
}

/// Returns the class of a score; the hysteresis applies to the class of the current tier.
fn class(score: f32, current: Tier, config: &PolicyConfig) -> Class {
    let least = |threshold: f32, reached: bool| if reached { config.falls_below(threshold) } else { threshold };
    if score >= least(config.hot_min, current <= Tier::Hot) {
        Class::Hot
    } else if score >= least(config.warm_min, current < config.least_tier) {
        Class::Warm
    } else {
        Class::Cold
    }
}

/// Returns the next tier below the stored one, if the use asks for it and the tensor allows it.
fn step(config: &PolicyConfig, now: u64, c: &Candidate, score: f32, class: Class) -> Option<Tier> {
    let least = config.least_tier;
    if c.stored >= least {
        let unused = score < config.absent_min_score && c.usage.age(now) > millis(config.absent_age_threshold);
        let evicts = class == Class::Cold && unused && c.stored != Tier::Absent;
        return (evicts && c.may_step_down_to(Tier::Absent, config)).then_some(Tier::Absent);
    }
    let below: &[Tier] = match class {
        Class::Hot => &[],
        Class::Warm | Class::Cold if c.stored < Tier::Hot => &[Tier::Hot],
        Class::Warm | Class::Cold if c.stored == Tier::Hot => &[Tier::Warm],
        Class::Warm => &[],
        Class::Cold => &[least, config.capped_tier()],
    };
    let allowed = |tier: &Tier| *tier > c.stored && *tier <= least && c.may_step_down_to(*tier, config);
    below.iter().copied().find(allowed)
}

/// Returns the tier of the next write according to use: at least the bits that are stored.
fn wanted(config: &PolicyConfig, c: &Candidate, class: Class) -> Tier {
    // Use never asks for more than 8 bits, even if the lowest tier has more.
    let (least, capped) = (config.least_tier.max(Tier::Hot), config.capped_tier());
    let by_use = match class {
        Class::Hot => Tier::Hot,
        // Stays at 5 bits until the plan, which knows the cap, grants 7.
        Class::Warm if c.wanted == capped && c.stored >= capped && capped < config.least_tier => capped,
        Class::Warm => Tier::Warm.min(least),
        Class::Cold => least,
    };
    by_use.min(c.stored)
}
