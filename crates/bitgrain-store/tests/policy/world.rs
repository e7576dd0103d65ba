//! A store without data: candidates, a simulated clock, and plans that are applied.

use bitgrain_store::Tier;
use bitgrain_store::policy::{
    AbsentRule, Candidate, CapState, PolicyConfig, Reason, TierBounds, TierPlan, Usage, decide, estimated_bytes, plan,
};

pub(crate) const SECOND: u64 = 1000;
pub(crate) const MINUTE: u64 = 60 * SECOND;
pub(crate) const HOUR: u64 = 60 * MINUTE;
pub(crate) const DAY: u64 = 24 * HOUR;
/// Start of simulated time: not a multiple of any period.
pub(crate) const START: u64 = 1_700_000_000_123;

/// Error that one encoding of values up to 1 adds.
pub(crate) fn step_of(tier: Tier) -> f32 {
    match tier {
        Tier::Lossless => 0.0,
        Tier::Absent => 1.0,
        tier => 0.5 / ((1 << (tier.bits() - 1)) - 1) as f32,
    }
}

/// Returns the bounds after one more encoding of data with bound `bound`.
pub(crate) fn bounds_after(bound: f32) -> TierBounds {
    TierBounds::new(Tier::ALL.map(|tier| bound + step_of(tier)))
}

/// Returns a tensor at `tier` without accesses.
pub(crate) fn tensor(tier: Tier) -> Candidate {
    Candidate {
        usage: Usage::default(),
        stored: tier,
        wanted: tier,
        changed_at: START,
        pinned: None,
        max_error: None,
        bounds: bounds_after(step_of(tier)),
        reconstructable: false,
        bytes: 1000,
        overhead: 0,
        added_overhead: 0,
    }
}

/// An applied move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    pub(crate) time: u64,
    pub(crate) index: usize,
    pub(crate) from: Tier,
    pub(crate) to: Tier,
    pub(crate) reason: Reason,
}

/// Returns the policy of ADR-019, except that every idle tensor is evicted.
pub(crate) fn evicting() -> PolicyConfig {
    PolicyConfig { absent: AbsentRule::Any, ..PolicyConfig::adr019() }
}

pub(crate) struct World {
    pub(crate) config: PolicyConfig,
    pub(crate) tensors: Vec<Candidate>,
    /// Bound of the current data.
    pub(crate) bounds: Vec<f32>,
    pub(crate) state: CapState,
    pub(crate) moved: Vec<Moved>,
}

impl World {
    pub(crate) fn new(config: PolicyConfig) -> Self {
        config.check().expect("a sound configuration");
        Self { config, tensors: Vec::new(), bounds: Vec::new(), state: CapState::default(), moved: Vec::new() }
    }

    /// Puts a new tensor with `bytes` at its tier.
    pub(crate) fn add(&mut self, tier: Tier, bytes: u64, now: u64) -> usize {
        let mut c = Candidate { changed_at: now, bytes, ..tensor(tier) };
        c.usage.touch(now, &self.config);
        self.tensors.push(c);
        self.bounds.push(step_of(tier));
        self.tensors.len() - 1
    }

    pub(crate) fn read(&mut self, index: usize, now: u64) {
        self.tensors[index].usage.touch(now, &self.config);
    }

    /// Replaces the values, at the tier that is wanted with this access included.
    pub(crate) fn put(&mut self, index: usize, now: u64) {
        let c = &mut self.tensors[index];
        c.usage.touch(now, &self.config);
        let tier = decide(&self.config, now, c).wanted;
        if tier != c.stored {
            c.bytes = estimated_bytes(c.bytes, c.stored, tier);
            (c.stored, c.changed_at) = (tier, now);
        }
        c.wanted = tier;
        self.bounds[index] = step_of(tier);
        c.bounds = bounds_after(step_of(tier));
    }

    /// Plans moves and applies them.
    pub(crate) fn tick(&mut self, now: u64) -> TierPlan {
        let plan = plan(&self.config, now, self.tensors.iter().copied(), &self.state);
        for m in &plan.moves {
            let c = &mut self.tensors[m.index];
            self.moved.push(Moved { time: now, index: m.index, from: c.stored, to: m.tier, reason: m.reason });
            c.bytes = estimated_bytes(c.bytes, c.stored, m.tier);
            self.bounds[m.index] += step_of(m.tier);
            c.bounds = bounds_after(self.bounds[m.index]);
            (c.stored, c.changed_at) = (m.tier, now);
        }
        for wanted in &plan.wanted_tiers {
            self.tensors[wanted.index].wanted = wanted.tier;
        }
        self.state = plan.state;
        plan
    }

    pub(crate) fn warm_bytes(&self) -> u64 {
        let warm = |c: &&Candidate| matches!(c.stored, Tier::Warm | Tier::WarmAggressive);
        self.tensors.iter().filter(warm).map(|c| c.bytes).sum()
    }

    pub(crate) fn cap_moves(&self) -> usize {
        self.moved.iter().filter(|m| m.reason == Reason::WarmCap).count()
    }
}
