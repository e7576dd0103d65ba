//! Each threshold at its value and next to it.

use std::time::Duration;

use bitgrain_store::Tier::{self, Absent, Cold, Hot, Lossless, Warm, WarmAggressive};
use bitgrain_store::policy::{AbsentRule, Candidate, Decision, PolicyConfig, TierBounds, Usage, decide, score};

use crate::world::{DAY, HOUR, tensor};

const NOW: u64 = 1000 * DAY;

/// Returns settings with a score of exactly 16 per bit of the window: no average, no recency, an unlimited period.
fn exact() -> PolicyConfig {
    let config = PolicyConfig {
        period: Duration::from_secs(100 * 365 * 86_400),
        weight_ema: 0.0,
        weight_recency: 0.0,
        weight_window: 1024.0,
        ..PolicyConfig::adr019()
    };
    config.check().expect("a sound configuration");
    config
}

/// Returns a tensor that has long been at `tier`, was just accessed, and has `sixteenths` bits in its window.
fn scored(tier: Tier, sixteenths: u32) -> Candidate {
    let window = (1_u128 << sixteenths) - 1;
    let window = u64::try_from(window).expect("64 bits at most");
    Candidate { usage: Usage { accesses: 1, last: NOW, window, ema: 0.0 }, changed_at: 0, ..tensor(tier) }
}

fn decided(candidate: Candidate) -> Decision {
    decide(&exact(), NOW, &candidate)
}

const fn stays(tier: Tier) -> Decision {
    Decision { step: None, wanted: tier }
}

const fn wants(tier: Tier) -> Decision {
    Decision { step: None, wanted: tier }
}

const fn falls(tier: Tier) -> Decision {
    Decision { step: Some(tier), wanted: tier }
}

#[test]
fn the_scores_of_these_tests_are_exact() {
    for bits in 0..=64 {
        assert_eq!(score(&scored(Hot, bits).usage, NOW, &exact()), 16.0 * bits as f32);
    }
}

#[test]
fn hot_is_reached_at_its_threshold_and_left_a_fifth_below() {
    assert_eq!(decided(scored(Warm, 32)), wants(Hot)); // 512
    assert_eq!(decided(scored(Warm, 31)), stays(Warm)); // 496
    assert_eq!(decided(scored(Hot, 26)), stays(Hot)); // 416
    assert_eq!(decided(scored(Hot, 25)), falls(Warm)); // 400 < 409.6
    let band = PolicyConfig { score_hysteresis: 0.1875, ..exact() }; // to 416 exactly
    assert_eq!(decide(&band, NOW, &scored(Hot, 26)), stays(Hot));
    assert_eq!(decide(&PolicyConfig { score_hysteresis: 0.0, ..band }, NOW, &scored(Hot, 31)), falls(Warm));
}

#[test]
fn a_wanted_tier_is_dropped_when_a_tensor_steps_down() {
    let wanting = |bits| decided(Candidate { wanted: Hot, ..scored(Warm, bits) });
    assert_eq!(wanting(26), wants(Hot));
    assert_eq!(wanting(25), stays(Warm));
    let wanting = |bits| decided(Candidate { wanted: Warm, ..scored(Cold, bits) });
    assert_eq!([wanting(32), wanting(31), wanting(4)], [wants(Hot), wants(Warm), wants(Warm)]);
    assert_eq!(wanting(3), stays(Cold)); // 48 < 51.2
}

#[test]
fn warm_is_reached_at_its_threshold_and_left_a_fifth_below() {
    assert_eq!(decided(scored(Cold, 4)), wants(Warm)); // 64
    assert_eq!(decided(scored(Cold, 3)), stays(Cold)); // 48
    assert_eq!(decided(scored(Warm, 4)), stays(Warm));
    assert_eq!(decided(scored(Warm, 3)), falls(Cold));
    assert_eq!(decided(scored(WarmAggressive, 3)), falls(Cold));
    assert_eq!(decided(scored(WarmAggressive, 4)), stays(WarmAggressive)); // 7 bits are the plan's to give
    assert_eq!(decided(scored(WarmAggressive, 32)), wants(Hot));
    let band = PolicyConfig { score_hysteresis: 0.25, ..exact() }; // to 48 exactly
    assert_eq!(decide(&band, NOW, &scored(Warm, 3)), stays(Warm));
    assert_eq!(decide(&band, NOW, &scored(WarmAggressive, 3)), stays(WarmAggressive));
}

#[test]
fn data_is_evicted_only_below_the_minimum_score_and_after_the_minimum_age() {
    let config = PolicyConfig { absent_min_score: 16.0, absent: AbsentRule::Any, ..exact() };
    let idle = |bits, age| {
        let mut c = scored(Cold, bits);
        c.usage.last = NOW - age;
        decide(&config, NOW, &c)
    };
    let gone = Decision { step: Some(Absent), wanted: Cold };
    assert_eq!(idle(0, DAY + 1), gone);
    assert_eq!(idle(0, DAY), stays(Cold)); // not longer than 24 hours
    assert_eq!(idle(1, DAY + 1), stays(Cold)); // 16 is not below 16
    assert_eq!(idle(0, 0), stays(Cold));
    let warm = Candidate { usage: Usage { last: 0, ..Usage::default() }, ..scored(Warm, 0) };
    assert_eq!(decide(&config, NOW, &warm), falls(Cold)); // one step, however idle
    let never = PolicyConfig { absent_min_score: 0.0, ..config };
    assert_eq!(decide(&never, NOW, &Candidate { usage: warm.usage, ..scored(Cold, 0) }), stays(Cold));
}

#[test]
fn the_absent_rule_decides_which_data_may_be_evicted() {
    let idle = |absent, reconstructable| {
        let usage = Usage { accesses: 1, last: NOW - 2 * DAY, ..Usage::default() };
        decide(&PolicyConfig { absent, ..exact() }, NOW, &Candidate { usage, reconstructable, ..scored(Cold, 0) }).step
    };
    assert_eq!([idle(AbsentRule::Any, false), idle(AbsentRule::Any, true)], [Some(Absent); 2]);
    assert_eq!([idle(AbsentRule::Reconstructable, false), idle(AbsentRule::Never, true)], [None; 2]);
    assert_eq!(idle(AbsentRule::Reconstructable, true), Some(Absent));
}

#[test]
fn an_absent_tensor_in_use_has_a_wanted_tier() {
    let absent = |bits| decided(scored(Absent, bits));
    assert_eq!([absent(0), absent(4), absent(32)], [wants(Cold), wants(Warm), wants(Hot)]);
}

#[test]
fn a_tensor_leaves_a_tier_exactly_after_its_residency() {
    let since = |time| decided(Candidate { changed_at: NOW - time, ..scored(Hot, 0) });
    assert_eq!(since(2 * HOUR), falls(Warm));
    assert_eq!(since(2 * HOUR - 1), stays(Hot));
    assert_eq!(decided(Candidate { changed_at: NOW + HOUR, ..scored(Hot, 0) }), stays(Hot)); // the clock went back
    assert_eq!(decided(Candidate { changed_at: NOW, ..scored(Cold, 32) }), wants(Hot)); // upwards there is no wait
}

#[test]
fn a_step_may_reach_but_not_exceed_the_error_limit() {
    let limited = |tier, bounds: [f32; Tier::COUNT], max_error| {
        decided(Candidate { bounds: TierBounds::new(bounds), max_error: Some(max_error), ..scored(tier, 0) })
    };
    // Lossless, f16, 8, 7, 6, 5, 4 and 3 bits, absent.
    let bounds = [0.0, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.0];
    assert_eq!(limited(Hot, bounds, 0.2), falls(Warm));
    assert_eq!(limited(Hot, bounds, 0.2_f32.next_down()), stays(Hot));
    assert_eq!(limited(Warm, bounds, 0.5), falls(Cold));
    assert_eq!(limited(Warm, bounds, 0.5_f32.next_down()), falls(WarmAggressive)); // 5 bits where 3 are too few
    assert_eq!(limited(Warm, bounds, 0.3), falls(WarmAggressive));
    assert_eq!(limited(Warm, bounds, 0.3_f32.next_down()), stays(Warm));
    assert_eq!(limited(WarmAggressive, bounds, 0.4), stays(WarmAggressive));
    for unknown in [f32::NAN, f32::INFINITY] {
        assert_eq!(limited(Hot, [unknown; Tier::COUNT], f32::MAX), stays(Hot));
    }
    let mut c = Candidate { max_error: Some(f32::INFINITY), reconstructable: true, ..scored(Cold, 0) };
    c.usage.last = 0;
    assert_eq!(decided(c), stays(Cold)); // no bound holds for data that is not there
    assert_eq!(decided(Candidate { max_error: None, ..c }).step, Some(Absent));
}

#[test]
fn a_pin_is_the_tier_of_the_next_write_and_the_lowest_step() {
    let pinned = |pin, tier, bits| {
        let mut c = Candidate { pinned: Some(pin), ..scored(tier, bits) };
        c.usage.last = NOW - 2 * DAY;
        let Decision { step, wanted } = decided(c);
        (step, wanted)
    };
    assert_eq!(pinned(Hot, Hot, 0), (None, Hot));
    assert_eq!(pinned(Warm, Hot, 0), (Some(Warm), Warm));
    assert_eq!(pinned(Warm, Warm, 0), (None, Warm));
    assert_eq!(pinned(WarmAggressive, Warm, 0), (Some(WarmAggressive), WarmAggressive));
    assert_eq!(pinned(Cold, Hot, 0), (Some(Warm), Cold)); // one step at a time; a write goes all the way
    assert_eq!(pinned(Cold, Hot, 64), (None, Cold)); // used: nothing is lost before the next write
    assert_eq!(pinned(Cold, Cold, 0), (None, Cold));
    assert_eq!(pinned(Hot, Cold, 0), (None, Hot));
    assert_eq!(pinned(Lossless, Hot, 0), (None, Lossless));
    assert_eq!(pinned(Absent, Warm, 0), (Some(Cold), Cold)); // holds nothing
    assert_eq!(pinned(Absent, Warm, 64), (None, Hot));
}

#[test]
fn lossless_data_stays() {
    for (pin, wanted) in [None, Some(Cold), Some(Absent)].into_iter().zip([Lossless, Hot, Absent]) {
        let c = Candidate { pinned: pin, wanted, ..scored(Lossless, 0) };
        assert_eq!(decided(c), stays(Lossless));
        assert!(decided(c).keeps(Lossless));
    }
}
