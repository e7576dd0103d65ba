//! Usage decays with time, independent of the counter and of the time of the query.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bitgrain_store::policy::{PolicyConfig, SharedUsage, Usage, score};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::world::{DAY, HOUR, MINUTE, SECOND, START};

/// Computes the score from a list of all accesses, period by period, as defined.
fn score_of_history(accesses: &[u64], now: u64, config: &PolicyConfig) -> f64 {
    let period = u64::try_from(config.period.as_millis()).expect("ten minutes");
    let (first, last) = (accesses[0] / period, accesses[accesses.len() - 1]);
    let used = |p: u64| accesses.iter().any(|t| t / period == p);
    // The current period counts if it has an access.
    let end = if used(now / period) { now / period } else { now / period - 1 };
    let weight = f64::from(config.ema_weight);
    let mut ema = 0.0;
    for p in first..=end {
        ema = ema * (1.0 - weight) + if used(p) { weight } else { 0.0 };
    }
    let window = (0..64).filter(|back| end >= *back && used(end - back)).count();
    let halvings = (now - last) as f64 / config.recency_half_life.as_millis() as f64;
    let recency = (1.0 - halvings.fract() / 2.0) / halvings.floor().exp2();
    f64::from(config.weight_ema) * ema
        + f64::from(config.weight_recency) * recency
        + f64::from(config.weight_window) * window as f64 / 64.0
}

proptest! {
    #[test]
    fn a_score_computed_late_covers_the_whole_history(gaps in vec(0..3 * HOUR, 1..60), idle in 0..DAY) {
        let config = PolicyConfig::default();
        let mut times = vec![START];
        times.extend(gaps.iter().scan(START, |time, gap| { *time += gap; Some(*time) }));
        let mut usage = Usage::default();
        times.iter().for_each(|time| usage.touch(*time, &config));
        let now = usage.last + idle;
        let (got, want) = (f64::from(score(&usage, now, &config)), score_of_history(&times, now, &config));
        prop_assert!((got - want).abs() < 0.01, "{got} is not {want}");
    }

    #[test]
    fn a_score_stays_in_range_and_never_grows_without_access(
        accesses in any::<u64>(), last in any::<u64>(), window in any::<u64>(), ema in any::<f32>(),
        mut times in vec(any::<u64>(), 2..20),
    ) {
        let config = PolicyConfig::default();
        let usage = Usage { accesses, last, window, ema };
        times.sort_unstable();
        let scores: Vec<f32> = times.iter().map(|now| score(&usage, *now, &config)).collect();
        prop_assert!(scores.iter().all(|s| (0.0..=1024.0).contains(s)), "{scores:?}");
        prop_assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }

    #[test]
    fn concurrent_use_equals_sequential_use(times in vec(prop_oneof![any::<u32>(), 0..3_000_000u32], 1..100)) {
        let config = PolicyConfig::default();
        let (mut alone, shared) = (Usage::default(), SharedUsage::default());
        for time in times {
            alone.touch(u64::from(time), &config);
            shared.touch(u64::from(time), &config);
            prop_assert_eq!(alone, shared.load());
        }
        let copy = SharedUsage::new(Usage::default());
        copy.store(alone);
        prop_assert_eq!(copy.load(), alone);
    }
}

#[test]
fn threads_lose_no_access_and_no_period() {
    let config = PolicyConfig { period: Duration::from_millis(1), ..PolicyConfig::default() };
    let (usage, clock) = (SharedUsage::default(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    usage.touch(START + clock.fetch_add(1, Ordering::Relaxed) / 100, &config);
                }
            });
        }
    });
    let seen = usage.load();
    assert_eq!((seen.accesses, seen.last), (40_000, START + 399));
    assert!(seen.window.count_ones() >= 32, "{:b}", seen.window); // a thread that was held up may skip some
    assert!(seen.ema > 0.5 && seen.ema <= 1.0, "{}", seen.ema);
}

#[test]
fn a_period_started_by_two_threads_counts_once() {
    let config = PolicyConfig::default();
    let (shared, rounds, arrived) = (SharedUsage::default(), 50_000_u64, AtomicU64::new(0));
    // The threads spin instead of sleeping, so that they start within a few instructions of each other.
    let meet = |times: u64| {
        arrived.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0_u32;
        while arrived.load(Ordering::Acquire) < 2 * times {
            spins += 1;
            if spins.is_multiple_of(1000) { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
    };
    let run = || {
        let (mut alone, mut wrong) = (Usage::default(), 0);
        for round in 0..rounds {
            let now = START + round * 10 * MINUTE;
            meet(2 * round + 1);
            shared.touch(now, &config);
            meet(2 * round + 2);
            // Queried in every period: usage decays, and so does an error.
            alone.touch(now, &config);
            wrong += u32::from(shared.load() != Usage { accesses: 2 * (round + 1), ..alone });
        }
        wrong
    };
    let wrong =
        std::thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(|thread| thread.join().expect("ran")));
    assert_eq!(wrong, [0, 0]);
}

#[test]
fn a_burst_counts_as_one_access_of_its_period() {
    let config = PolicyConfig::default();
    let (mut once, mut often) = (Usage::default(), Usage::default());
    once.touch(START, &config);
    (0..10_000).for_each(|_| often.touch(START, &config));
    assert_eq!(often.accesses, 10_000);
    assert_eq!(score(&once, START + HOUR, &config), score(&often, START + HOUR, &config));
}

#[test]
fn a_period_counts_as_unused_only_when_it_is_over() {
    let config =
        PolicyConfig { weight_ema: 1024.0, weight_recency: 0.0, weight_window: 0.0, ..PolicyConfig::default() };
    let mut usage = Usage::default();
    usage.touch(0, &config);
    let seen = |now| score(&usage, now, &config);
    assert_eq!([seen(0), seen(20 * MINUTE - 1)], [64.0; 2]);
    assert_eq!([seen(20 * MINUTE), seen(30 * MINUTE - 1)], [60.0; 2]); // one period without, 15/16 are left
    let config = PolicyConfig { weight_ema: 0.0, weight_window: 1024.0, ..config };
    let seen = |now| score(&usage, now, &config);
    assert_eq!([seen(20 * MINUTE), seen(65 * 10 * MINUTE - 1), seen(65 * 10 * MINUTE)], [16.0, 16.0, 0.0]);
}

#[test]
fn a_clock_that_goes_back_acts_as_if_it_stood_still() {
    let config = PolicyConfig::default();
    let mut usage = Usage::default();
    usage.touch(START, &config);
    let before = score(&usage, START, &config);
    for now in [START - 1, START - DAY, 0] {
        assert_eq!(score(&usage, now, &config), before);
        let mut back = usage;
        back.touch(now, &config);
        assert_eq!(back, Usage { accesses: 2, ..usage });
    }
    usage.touch(u64::MAX, &config); // and one that jumps ahead forgets, without harm
    assert_eq!((usage.window, usage.last), (1, u64::MAX));
    usage.touch(START + SECOND, &config);
    assert_eq!((usage.accesses, usage.last), (3, u64::MAX));
}

#[test]
fn usage_read_from_a_file_is_sanitized() {
    let config = PolicyConfig::default();
    for ema in [f32::NAN, f32::INFINITY, -1.0, 7.0, f32::NEG_INFINITY] {
        let mut usage = Usage { accesses: 1, last: START, window: u64::MAX, ema };
        assert!((0.0..=1024.0).contains(&score(&usage, START, &config)), "{ema}");
        usage.touch(START + HOUR, &config);
        assert!((0.0..=1.0).contains(&usage.ema), "{ema} became {}", usage.ema);
    }
    assert_eq!(score(&Usage::default(), 0, &config), 0.0);
}
