//! What becomes of one tensor.

use super::config::millis;
use super::{PolicyConfig, Usage, score};
use crate::Tier;

/// What the policy has to know of a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its accesses.
    pub usage: Usage,
    /// Tier of its data.
    pub stored: Tier,
    /// Tier that its use asks for, as last decided; the stored one if nothing was.
    pub wanted: Tier,
    /// When its data came to the tier it has.
    pub changed_at: u64,
    /// Tier it is held at.
    pub pinned: Option<Tier>,
    /// Largest bound it may get.
    pub max_error: Option<f32>,
    /// The bound it would have at each tier.
    pub bounds: TierBounds,
    /// True if it can be reconstructed when its data is gone.
    pub reconstructable: bool,
    /// Bytes of its data as stored.
    pub bytes: u64,
}

impl Candidate {
    /// True if the policy may re-encode the data at `tier`.
    pub(super) fn may_fall_to(&self, tier: Tier, config: &PolicyConfig) -> bool {
        if self.stored == Tier::Lossless || self.pinned.is_some_and(|pin| tier > pin) {
            return false;
        }
        if tier == Tier::Absent {
            // A reconstruction promises no bound, so a tensor that has one keeps its data.
            return config.absent.allows(self.reconstructable) && self.max_error.is_none();
        }
        self.max_error.is_none_or(|limit| self.bounds.at(tier) <= limit)
    }
}

/// The total bound that a tensor's data would have at each tier, everything since the last `put` added up.
/// What is not known is infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TierBounds([f32; 6]);

impl TierBounds {
    /// Bounds in the order of [`Tier::ALL`].
    #[must_use]
    pub const fn new(bounds: [f32; 6]) -> Self {
        Self(bounds)
    }

    /// The bound at `tier`.
    #[must_use]
    pub const fn at(self, tier: Tier) -> f32 {
        self.0[tier as usize]
    }
}

/// Nothing is known.
impl Default for TierBounds {
    fn default() -> Self {
        Self([f32::INFINITY; 6])
    }
}

/// What becomes of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Tier that its data is to be re-encoded at now: one with fewer bits. None: the data stays.
    pub step: Option<Tier>,
    /// Tier that its use asks for. Above the stored one, it is a wish: bits that are gone come with new values only.
    pub wanted: Tier,
}

impl Decision {
    /// True if the data stays and use asks for its tier.
    #[must_use]
    pub fn keeps(self, stored: Tier) -> bool {
        self.step.is_none() && self.wanted == stored
    }
}

/// What use asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Hot,
    Warm,
    Cold,
}

/// What becomes of a tensor at `now`, for itself; [`plan`](super::plan()) sees to the bytes of all.
///
/// Data steps down one tier at a time, from 8 bits to 7 to 3 to none, and not before it was in a tier for the residency.
/// 5 bits come in where 3 are not allowed, or for the cap. A pinned tensor is written at its pin; data above the pin steps
/// down with its use, never below. A pin at absent holds nothing. Lossless data stays.
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
        _ => step.filter(|tier| *tier != Tier::Absent).unwrap_or_else(|| wanted(c, class)),
    };
    Decision { step, wanted }
}

/// The class of a score; one that was reached is left later than it is reached.
fn class(score: f32, current: Tier, config: &PolicyConfig) -> Class {
    let least = |threshold: f32, reached: bool| if reached { config.falls_below(threshold) } else { threshold };
    if score >= least(config.hot_min, current <= Tier::Hot) {
        Class::Hot
    } else if score >= least(config.warm_min, current <= Tier::WarmAggressive) {
        Class::Warm
    } else {
        Class::Cold
    }
}

/// The next tier below the stored one, if use asks for less and the tensor allows it.
fn step(config: &PolicyConfig, now: u64, c: &Candidate, score: f32, class: Class) -> Option<Tier> {
    let below: &[Tier] = match (c.stored, class) {
        (Tier::Hot, Class::Warm | Class::Cold) => &[Tier::Warm],
        (Tier::Warm, Class::Cold) => &[Tier::Cold, Tier::WarmAggressive],
        (Tier::WarmAggressive, Class::Cold) => &[Tier::Cold],
        (Tier::Cold, Class::Cold)
            if score < config.absent_min_score && c.usage.age(now) > millis(config.absent_age_threshold) =>
        {
            &[Tier::Absent]
        }
        _ => &[],
    };
    below.iter().copied().find(|tier| c.may_fall_to(*tier, config))
}

/// Tier of the next write by use: more bits than are stored, or as many.
fn wanted(c: &Candidate, class: Class) -> Tier {
    let by_use = match class {
        Class::Hot => Tier::Hot,
        // 5 bits until the plan says 7: it knows the cap.
        Class::Warm if c.wanted == Tier::WarmAggressive => Tier::WarmAggressive,
        Class::Warm => Tier::Warm,
        Class::Cold => Tier::Cold,
    };
    by_use.min(c.stored)
}
