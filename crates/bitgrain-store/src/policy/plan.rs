//! What becomes of all tensors: each for itself, then the bytes that warm ones may have together.

use std::cmp::Reverse;

use super::config::millis;
use super::{Candidate, Decision, PolicyConfig, decide};
use crate::Tier;

/// Milliseconds by which a clock may go back and still be believed: a day.
const CLOCK_ERROR: u64 = 24 * 3_600_000;

/// What the cap remembers from one plan to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapState {
    /// When tensors last went from 7 to 5 bits for the cap.
    pub last_downgrade: Option<u64>,
}

/// What is to be done, tensors being named by their place among the candidates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TierPlan {
    /// Data to re-encode with fewer bits: by use in the order of the candidates, then for the cap, least recently
    /// used first.
    pub moves: Vec<PlannedMove>,
    /// Tensors whose wanted tier changes, in the order of the candidates.
    pub wishes: Vec<PlannedWish>,
    /// Bytes of warm tensors (7 and 5 bits) before the plan.
    pub warm_bytes_before: u64,
    /// Bytes of warm tensors after it, as estimated.
    pub warm_bytes_after: u64,
    /// To be given to the next plan once this one is carried out.
    pub state: CapState,
}

/// Data to re-encode with fewer bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedMove {
    /// Place among the candidates.
    pub index: usize,
    /// New tier.
    pub tier: Tier,
    /// Why.
    pub reason: Reason,
}

/// Why data gets fewer bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Its score asks for fewer.
    Use,
    /// The warm tensors were too many bytes.
    WarmCap,
}

/// A tier that use asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedWish {
    /// Place among the candidates.
    pub index: usize,
    /// Tier that its use asks for.
    pub tier: Tier,
}

/// Plans for all tensors at `now`. The same candidates in another order get the same plan, but for tensors last used in the
/// same millisecond: there the earlier candidate is taken first.
///
/// Warm tensors are those at 7 and 5 bits. While they have more bytes than the cap, the least recently used go from 7 to 5,
/// whatever their residency, at most once in the interval. From 5 back to 7, and from 3 to 7, is wanted only for as many as
/// leave the hysteresis' share of the cap free, the most recently used first.
#[must_use]
pub fn plan(
    config: &PolicyConfig,
    now: u64,
    candidates: impl IntoIterator<Item = Candidate>,
    state: &CapState,
) -> TierPlan {
    let mut plan = TierPlan { state: *state, ..TierPlan::default() };
    let (mut falling, mut rising) = (Vec::new(), Vec::new());
    for (index, c) in candidates.into_iter().enumerate() {
        // 5 bits are what the cap allowed last time; here it is asked again.
        let asked = if c.wanted == Tier::WarmAggressive { Tier::Warm } else { c.wanted };
        let Decision { step, wanted } = decide(config, now, &Candidate { wanted: asked, ..c });
        if is_warm(c.stored) {
            plan.warm_bytes_before = plan.warm_bytes_before.saturating_add(c.bytes);
        }
        let tier = step.unwrap_or(c.stored);
        if is_warm(tier) {
            let bytes = estimated_bytes(c.bytes, c.stored, tier);
            plan.warm_bytes_after = plan.warm_bytes_after.saturating_add(bytes);
        }
        if let Some(tier) = step {
            plan.moves.push(PlannedMove { index, tier, reason: Reason::Use });
        }
        let held = c.pinned.is_some_and(|pin| pin != Tier::Absent);
        let (last, bytes, stored, before) = (c.usage.last, c.bytes, c.stored, c.wanted);
        let entry = Entry { last, index, bytes, stored, wanted, before, held };
        if step.is_none() && c.stored == Tier::Warm && c.may_fall_to(Tier::WarmAggressive, config) {
            falling.push(entry);
        } else if step.is_none() && c.stored > Tier::Warm && wanted == Tier::Warm && !held {
            rising.push(entry);
        } else {
            plan.wish(&entry, wanted);
        }
    }
    plan.shrink(config, now, falling);
    plan.grant(config, rising);
    plan.wishes.sort_unstable_by_key(|wish| wish.index);
    plan
}

/// What the cap has to know of a tensor. Ordered from least to most recently used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    last: u64,
    index: usize,
    bytes: u64,
    stored: Tier,
    /// Tier of the next write if the cap does not mind.
    wanted: Tier,
    /// Tier of the next write so far.
    before: Tier,
    /// True if a pin says the tier of the next write.
    held: bool,
}

impl TierPlan {
    /// Sends warm tensors from 7 to 5 bits while all have more bytes than the cap, unless that was done just now.
    fn shrink(&mut self, config: &PolicyConfig, now: u64, mut falling: Vec<Entry>) {
        let interval = millis(config.warm_downgrade_interval);
        let due = self.state.last_downgrade.is_none_or(|last| {
            // A downgrade far ahead was stored by a clock that was wrong: it must not stop downgrades for good.
            now.saturating_sub(last) >= interval || last.saturating_sub(now) > CLOCK_ERROR
        });
        if due && self.warm_bytes_after > config.warm_byte_cap {
            falling.sort_unstable();
        }
        for entry in falling {
            if !due || self.warm_bytes_after <= config.warm_byte_cap {
                self.wish(&entry, entry.wanted);
                continue;
            }
            let tier = Tier::WarmAggressive;
            self.moves.push(PlannedMove { index: entry.index, tier, reason: Reason::WarmCap });
            let saved = entry.bytes.saturating_sub(estimated_bytes(entry.bytes, entry.stored, tier));
            self.warm_bytes_after -= saved.min(self.warm_bytes_after);
            self.state.last_downgrade = Some(now);
            self.wish(&entry, if entry.wanted == Tier::Warm { tier } else { entry.wanted });
        }
    }

    /// Lets tensors below 7 bits want 7 while the bytes stay clear of the cap, and 5 otherwise.
    fn grant(&mut self, config: &PolicyConfig, mut rising: Vec<Entry>) {
        rising.sort_unstable_by_key(|entry| (Reverse(entry.last), entry.index));
        let limit = clear_of_cap(config);
        let mut promised = self.warm_bytes_after;
        for entry in rising {
            let has = if is_warm(entry.stored) { entry.bytes } else { 0 };
            let with =
                |tier| (promised - has.min(promised)).saturating_add(estimated_bytes(entry.bytes, entry.stored, tier));
            let tier = if with(Tier::Warm) <= limit { Tier::Warm } else { Tier::WarmAggressive };
            promised = with(tier);
            self.wish(&entry, tier);
        }
    }

    fn wish(&mut self, entry: &Entry, tier: Tier) {
        // A pin decides for as long as it is there. A wish made of it would outlive it.
        if tier != entry.before && !entry.held {
            self.wishes.push(PlannedWish { index: entry.index, tier });
        }
    }
}

/// Bytes of data at tier `to` that has `bytes` at tier `from`, in blocks of 64 values: exact but for a last, short block.
/// Longer blocks take fewer. Of absent data nothing is known: 0.
///
/// ```
/// use bitgrain_store::{Tier, policy::estimated_bytes};
/// assert_eq!(estimated_bytes(60, Tier::Warm, Tier::WarmAggressive), 44); // 56 + 4 bytes become 40 + 4
/// assert_eq!(estimated_bytes(256, Tier::Lossless, Tier::Hot), 68);
/// ```
#[must_use]
pub fn estimated_bytes(bytes: u64, from: Tier, to: Tier) -> u64 {
    // Half bits of a value: its code and its share of 32 bits of scale.
    let half_bits = |tier: Tier| match tier {
        Tier::Lossless => 64,
        Tier::Absent => 0,
        tier => 2 * u64::from(tier.bits()) + 1,
    };
    if from == to {
        return bytes;
    }
    if from == Tier::Absent {
        return 0;
    }
    // `bytes * to / from`, rounded up, without a product that overflows where there are fewer bits than before.
    let (from, to) = (half_bits(from), half_bits(to));
    (bytes / from).saturating_mul(to).saturating_add((bytes % from * to).div_ceil(from))
}

const fn is_warm(tier: Tier) -> bool {
    matches!(tier, Tier::Warm | Tier::WarmAggressive)
}

/// Bytes up to which 7 bits are given back.
fn clear_of_cap(config: &PolicyConfig) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the cap, at least 0; a byte more or less does not matter"
    )]
    let limit = (config.warm_byte_cap as f64 * f64::from(1.0 - config.warm_hysteresis)) as u64;
    limit
}
