//! Properties that hold for any tensor, any usage and any valid configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use bitgrain_store::Tier::{self, Absent, B4, B6, Cold, F16, Hot, Lossless, Warm, WarmAggressive};
use bitgrain_store::policy::{
    AbsentRule, Candidate, CapState, PolicyConfig, Reason, TierBounds, TierPlan, Usage, decide, plan, score,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::world::{DAY, HOUR, START, World, tensor};

const NOW: u64 = START;

fn tiers() -> impl Strategy<Value = Tier> {
    select(&Tier::ALL[..])
}

fn candidates() -> impl Strategy<Value = Candidate> {
    let usage = (0..1000_u64, 0..40 * HOUR, any::<u64>(), 0.0..=1.0_f32);
    let usage = usage.prop_map(|(accesses, age, window, ema)| Usage { accesses, last: NOW - age, window, ema });
    let bounds = [const { 0.0..1.0_f32 }; Tier::COUNT];
    let limits = (option::of(tiers()), option::of(0.0..1.0_f32), bounds);
    (usage, tiers(), tiers(), 0..3 * HOUR, limits, any::<bool>(), 0..10_000_u64).prop_map(
        |(usage, stored, wanted, since, (pinned, max_error, bounds), reconstructable, bytes)| Candidate {
            usage,
            stored,
            wanted,
            changed_at: NOW - since,
            pinned,
            max_error,
            bounds: TierBounds::new(bounds),
            reconstructable,
            bytes,
            overhead: 0,
            added_overhead: 0,
        },
    )
}

fn configs() -> impl Strategy<Value = PolicyConfig> {
    let rules = select(&[AbsentRule::Never, AbsentRule::Reconstructable, AbsentRule::Any][..]);
    let least = select(&[Cold, Cold, B4, WarmAggressive, B6, Warm, Hot, Lossless][..]);
    (0.0..0.9_f32, 0..2 * HOUR, 0..30 * HOUR, 0.0..5.0_f32, rules, 0..200_000_u64, 0.0..0.9_f32, least).prop_map(
        |(score_hysteresis, residency, age, score, absent, warm_byte_cap, warm_hysteresis, least_tier)| PolicyConfig {
            score_hysteresis,
            residency: Duration::from_millis(residency),
            absent_age_threshold: Duration::from_millis(age),
            absent_min_score: score,
            absent,
            warm_byte_cap,
            warm_hysteresis,
            least_tier,
            ..PolicyConfig::adr019()
        },
    )
}

/// Checks the conditions that every step must meet.
fn holds(config: &PolicyConfig, c: &Candidate, to: Tier, reason: Reason) -> Result<(), TestCaseError> {
    let (least, capped) = (config.least_tier, config.least_tier.min(WarmAggressive));
    let one_down = match c.stored {
        Lossless | Absent => false,
        stored if stored >= least => to == Absent,
        F16 => to == Hot,
        Hot => to == Warm,
        stored => to > stored && (to == least || to == capped),
    };
    prop_assert!(one_down && (to == Absent || to <= least), "{:?} to {to:?}", c.stored);
    prop_assert!(c.pinned.is_none_or(|pin| to <= pin), "below the pin {:?}", c.pinned);
    if let Some(limit) = c.max_error {
        prop_assert!(to != Absent && c.bounds.at(to) <= limit);
    }
    if reason == Reason::WarmCap {
        prop_assert!(is_warm(config, c.stored) && to == capped);
        return Ok(());
    }
    let seen = score(&c.usage, NOW, config);
    prop_assert!(u128::from(NOW - c.changed_at) >= config.residency.as_millis());
    match to {
        Hot | Warm => prop_assert!(seen < config.hot_min),
        to if to != Absent => prop_assert!(seen < config.warm_min),
        _ => {
            prop_assert!(seen < config.absent_min_score);
            prop_assert!(u128::from(NOW - c.usage.last) > config.absent_age_threshold.as_millis());
            prop_assert!(
                config.absent == AbsentRule::Any || config.absent == AbsentRule::Reconstructable && c.reconstructable
            );
        }
    }
    Ok(())
}

/// Returns the plan by candidate names instead of positions.
fn by_name(plan: &TierPlan, names: &[usize]) -> (BTreeMap<usize, (Tier, Reason)>, BTreeMap<usize, Tier>) {
    let moves = plan.moves.iter().map(|m| (names[m.index], (m.tier, m.reason))).collect();
    (moves, plan.wanted_tiers.iter().map(|w| (names[w.index], w.tier)).collect())
}

fn is_warm(config: &PolicyConfig, tier: Tier) -> bool {
    tier == Warm || tier > Warm && tier < config.least_tier
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_step_is_one_tier_down_above_the_pin_and_within_the_error(c in candidates(), config in configs()) {
        let decision = decide(&config, NOW, &c);
        if let Some(to) = decision.step {
            holds(&config, &c, to, Reason::Use)?;
        }
        prop_assert!(decision.wanted != Absent, "nothing is written at absent");
        match c.pinned {
            _ if c.stored == Lossless => prop_assert_eq!(decision.wanted, Lossless),
            Some(pin) if pin != Absent => prop_assert_eq!(decision.wanted, pin),
            _ => prop_assert!(decision.wanted <= decision.step.unwrap_or(c.stored).min(config.least_tier.max(Hot))),
        }
    }

    #[test]
    fn an_executed_decision_is_not_reverted(c in candidates(), config in configs()) {
        let decision = decide(&config, NOW, &c);
        let after = Candidate { stored: decision.step.unwrap_or(c.stored), wanted: decision.wanted, ..c };
        let again = decide(&config, NOW, &after);
        if decision.step.is_none() {
            prop_assert_eq!(again, decision);
        } else if decision.step != Some(Absent) && c.pinned.is_none() {
            // A tensor that stepped down does not want to step up immediately.
            prop_assert!(again.wanted >= decision.wanted.min(after.stored));
        }
    }

    #[test]
    fn more_use_never_gets_fewer_bits(c in candidates(), config in configs(), more in any::<u64>()) {
        let busier = Candidate { usage: Usage { window: c.usage.window | more, ..c.usage }, ..c };
        let (less, more) = (decide(&config, NOW, &c), decide(&config, NOW, &busier));
        prop_assert!(more.wanted <= less.wanted);
        prop_assert!(more.step.is_none() || less.step.is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_plan_respects_every_limit_and_the_cap(
        tensors in vec(candidates(), 0..60), config in configs(), last in option::of(0..120_000_u64),
    ) {
        let state = CapState { last_downgrade: last.map(|ago| NOW - ago) };
        let made = plan(&config, NOW, tensors.iter().copied(), &state);
        let mut after = tensors.clone();
        for m in &made.moves {
            holds(&config, &tensors[m.index], m.tier, m.reason)?;
            prop_assert_eq!(after[m.index].stored, tensors[m.index].stored, "two moves");
            after[m.index].stored = m.tier;
        }
        let shrunk = made.moves.iter().any(|m| m.reason == Reason::WarmCap);
        let due = last.is_none_or(|ago| ago >= 60_000);
        prop_assert!(due || !shrunk);
        prop_assert_eq!(made.state.last_downgrade, if shrunk { Some(NOW) } else { state.last_downgrade });
        let before: u64 = tensors.iter().filter(|c| is_warm(&config, c.stored)).map(|c| c.bytes).sum();
        prop_assert_eq!(made.warm_bytes_before, before);
        if due && made.warm_bytes_after > config.warm_byte_cap {
            // Tensors that remain at 7 bits arrived just now, are pinned, or would exceed their error limit.
            let capped = config.least_tier.min(WarmAggressive);
            let stays = |c: &Candidate, was: &Candidate| c.stored == Warm && was.stored == Warm && capped > Warm;
            for (c, was) in after.iter().zip(&tensors).filter(|(c, was)| stays(c, was)) {
                let pinned = c.pinned.is_some_and(|pin| pin < capped);
                let limited = c.max_error.is_some_and(|limit| c.bounds.at(capped) > limit);
                prop_assert!(pinned || limited, "{was:?}");
            }
        }
        prop_assert!(made.wanted_tiers.is_sorted_by(|a, b| a.index < b.index));
        prop_assert!(made.wanted_tiers.iter().all(|w| w.tier != tensors[w.index].wanted && w.tier != Absent));
    }

    #[test]
    fn a_plan_does_not_depend_on_the_order_of_the_tensors(
        tensors in vec(candidates(), 1..60), config in configs(), keys in vec(any::<u32>(), 60),
    ) {
        let mut tensors = tensors;
        // All accesses have different times.
        tensors.iter_mut().enumerate().for_each(|(i, c)| c.usage.last -= c.usage.last % 100 + i as u64);
        let names: Vec<usize> = (0..tensors.len()).collect();
        let mut other = names.clone();
        other.sort_by_key(|name| keys[*name]);
        let state = CapState::default();
        let straight = plan(&config, NOW, tensors.iter().copied(), &state);
        let shuffled = plan(&config, NOW, other.iter().map(|name| tensors[*name]), &state);
        prop_assert_eq!(by_name(&straight, &names), by_name(&shuffled, &other));
        prop_assert_eq!(straight.warm_bytes_after, shuffled.warm_bytes_after);
    }

    #[test]
    fn recorded_wanted_tiers_are_not_reported_again(tensors in vec(candidates(), 0..60), config in configs()) {
        // No move is due: all tensors just changed tiers, including those that shrank for the cap.
        let config = PolicyConfig { residency: Duration::from_secs(100 * 365 * 86_400), ..config };
        let state = CapState { last_downgrade: Some(NOW) };
        let made = plan(&config, NOW, tensors.iter().copied(), &state);
        prop_assert_eq!(&made.moves, &vec![]);
        let mut after = tensors;
        made.wanted_tiers.iter().for_each(|w| after[w.index].wanted = w.tier);
        let again = plan(&config, NOW, after, &made.state);
        prop_assert_eq!((again.moves, again.wanted_tiers), (vec![], vec![]));
    }

    #[test]
    fn days_of_random_use_violate_no_limit(
        seeds in vec((tiers(), option::of(tiers()), option::of(0.0..0.5_f32), 1..5000_u64), 1..12),
        events in vec((0..12_usize, any::<bool>(), 0..2 * HOUR), 1..150),
        cap in 0..20_000_u64,
    ) {
        let mut world = World::new(PolicyConfig { warm_byte_cap: cap, ..PolicyConfig::adr019() });
        for (tier, pinned, max_error, bytes) in seeds {
            let index = world.add(tier, bytes, START);
            world.tensors[index].pinned = pinned;
            // A limit that the initial data satisfies.
            world.tensors[index].max_error = max_error.map(|limit| limit.max(world.bounds[index]));
        }
        let mut now = START;
        for (index, write, pause) in events {
            now += pause;
            let index = index % world.tensors.len();
            if write { world.put(index, now) } else { world.read(index, now) }
            let before: Vec<Tier> = world.tensors.iter().map(|c| c.stored).collect();
            let moves = world.tick(now).moves.len();
            for (i, (c, was)) in world.tensors.iter().zip(&before).enumerate() {
                if c.stored != *was {
                    prop_assert!(c.pinned.is_none_or(|pin| c.stored <= pin), "below the pin");
                    prop_assert!(c.max_error.is_none_or(|limit| world.bounds[i] <= limit), "beyond the error");
                    prop_assert!(*was != Lossless);
                }
            }
            prop_assert_eq!(moves, before.iter().zip(&world.tensors).filter(|(was, c)| **was != c.stored).count());
        }
        let lasting = world.moved.iter().filter(|m| m.reason == Reason::Use);
        let mut since = BTreeMap::new();
        for m in lasting {
            if let Some(earlier) = since.insert(m.index, m.time) {
                prop_assert!(m.time - earlier >= 2 * HOUR, "two steps within the residency");
            }
        }
        prop_assert!(now <= START + 300 * DAY);
    }
}

#[test]
fn planning_for_a_million_tensors_is_fast() {
    let config = PolicyConfig { warm_byte_cap: 100 << 20, ..PolicyConfig::adr019() };
    let tensors: Vec<Candidate> = (0..1_000_000_u64)
        .zip([Hot, Warm, WarmAggressive, Cold].into_iter().cycle())
        .map(|(i, tier)| {
            let last = NOW - (i * 7_919) % (40 * HOUR);
            Candidate {
                usage: Usage { accesses: 1 + i, last, window: i.wrapping_mul(0x9E37_79B9_7F4A_7C15), ema: 0.1 },
                bytes: 1000,
                ..tensor(tier)
            }
        })
        .collect();
    let begun = std::time::Instant::now();
    let made = plan(&config, NOW, tensors.iter().copied(), &CapState::default());
    let took = begun.elapsed();
    println!("{took:?}, {} moves, {} wanted_tiers", made.moves.len(), made.wanted_tiers.len());
    assert!(took < Duration::from_secs(5), "{took:?}"); // 0.4 to 0.6 s on two busy cores
}
