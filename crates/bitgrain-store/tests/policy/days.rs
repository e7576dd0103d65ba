//! Days of simulated use: final tiers, and the number of moves.

use bitgrain_store::Tier::{self, Absent, Cold, Hot, Warm};
use bitgrain_store::policy::{PolicyConfig, Reason};
use bitgrain_store::storage::simulated::Dice;

use crate::world::{DAY, HOUR, MINUTE, START, World, evicting};

/// Returns a world whose warm bytes never reach the cap.
fn roomy() -> World {
    World::new(PolicyConfig { warm_byte_cap: u64::MAX, ..evicting() })
}

/// Returns the tiers of tensor `index` in order, with the hours between them.
fn path(world: &World, index: usize) -> Vec<(Tier, f64)> {
    let moves = world.moved.iter().filter(|m| m.index == index);
    moves.map(|m| (m.to, (m.time - START) as f64 / HOUR as f64)).collect()
}

#[test]
fn an_idle_tensor_steps_down_one_tier_at_a_time_and_is_evicted_after_a_day() {
    let mut world = roomy();
    world.add(Hot, 1000, START);
    for tick in 0..3 * DAY / MINUTE {
        world.tick(START + tick * MINUTE);
    }
    let path = path(&world, 0);
    assert_eq!(path.iter().map(|(tier, _)| *tier).collect::<Vec<_>>(), [Warm, Cold, Absent]);
    let hours: Vec<f64> = path.iter().map(|(_, hours)| *hours).collect();
    assert_eq!(hours[0], 2.0); // the residency
    assert!((4.0..8.0).contains(&hours[1]), "{hours:?}");
    assert!(hours[2] > 24.0 && hours[2] < 24.1, "{hours:?}");
}

#[test]
fn even_a_tensor_used_all_day_is_below_the_minimum_score_a_day_later() {
    let config = PolicyConfig::adr019();
    let mut world = roomy();
    world.add(Hot, 1000, START);
    let stopped = START + 2 * DAY;
    for minute in 0..=2 * DAY / MINUTE {
        world.read(0, START + minute * MINUTE);
    }
    let score = |now| bitgrain_store::policy::score(&world.tensors[0].usage, now, &config);
    assert!(score(stopped) > 1020.0);
    assert!(score(stopped + DAY) < 1.0, "{}", score(stopped + DAY));
}

#[test]
fn a_tensor_read_in_every_period_becomes_and_stays_hot() {
    let mut world = roomy();
    world.add(Cold, 1000, START);
    let mut since = None;
    for tick in 0..3 * DAY / (10 * MINUTE) {
        let now = START + tick * 10 * MINUTE;
        world.read(0, now);
        world.tick(now + 9 * MINUTE);
        match (world.tensors[0].wanted, since) {
            (Hot, None) => since = Some(now),
            (tier, Some(_)) => assert_eq!(tier, Hot, "it was hot before"),
            _ => {}
        }
    }
    let hours = (since.expect("hot at last") - START) / HOUR;
    assert!(hours < 3, "{hours}");
    assert_eq!(world.tensors[0].stored, Cold); // bits that are gone stay gone
    world.put(0, START + 3 * DAY);
    assert_eq!(world.tensors[0].stored, Hot); // until there are new values
    assert!(world.moved.is_empty());
}

#[test]
fn tiers_follow_how_often_a_tensor_is_read() {
    let every = [10, 20, 60, 120, 12 * 60, 24 * 60];
    let expected = [Hot, Hot, Warm, Warm, Cold, Cold];
    let mut world = roomy();
    every.iter().for_each(|_| _ = world.add(Hot, 1000, START));
    for minute in 0..10 * DAY / MINUTE {
        let now = START + minute * MINUTE;
        if minute % 7 == 0 {
            world.tick(now);
        }
        for (index, minutes) in every.iter().enumerate() {
            if minute % minutes == 0 {
                world.read(index, now);
            }
        }
    }
    assert_eq!(world.tensors.iter().map(|c| c.stored).collect::<Vec<_>>(), expected);
    assert!(world.moved.len() <= 6, "{:?}", world.moved); // straight to where it belongs
}

#[test]
fn a_busy_tensor_keeps_its_data_over_a_night_without_reads() {
    let mut world = roomy();
    world.add(Hot, 1000, START);
    for minute in 0..7 * DAY / MINUTE {
        let now = START + minute * MINUTE;
        // Eight hours of use, sixteen idle; values are replaced every morning.
        if now % DAY < 8 * HOUR && minute % 5 == 0 {
            if now % DAY < 5 * MINUTE { world.put(0, now) } else { world.read(0, now) }
        }
        world.tick(now);
    }
    assert!(world.moved.iter().all(|m| m.to != Absent), "{:?}", world.moved);
    assert!(world.moved.len() <= 14, "{:?}", world.moved); // at most to warm and cold in a night
}

/// Counts changes of the wanted tier in a week of use whose score oscillates around the threshold of hot.
fn flips(score_hysteresis: f32) -> usize {
    let mut world = World::new(PolicyConfig { score_hysteresis, ..PolicyConfig::adr019() });
    world.add(Warm, 1000, START);
    let mut flips = 0;
    for period in 0..6 * 24 * 7 {
        let now = START + period * 10 * MINUTE;
        if period % 3 == 0 {
            world.read(0, now);
        }
        let before = world.tensors[0].wanted;
        world.tick(now + MINUTE);
        flips += usize::from(before != world.tensors[0].wanted);
    }
    flips
}

#[test]
fn a_score_that_oscillates_around_a_threshold_does_not_flip_the_wanted_tier() {
    assert_eq!((flips(0.2), flips(0.0)), (1, 634)); // as the decision record says
}

#[test]
fn frequently_read_tensors_have_more_bits() {
    const TENSORS: usize = 2000;
    let mut world = roomy();
    (0..TENSORS).for_each(|_| _ = world.add(Hot, 1000, START));
    let total: f64 = (1..=TENSORS).map(|rank| 1.0 / rank as f64).sum();
    let sums: Vec<f64> = (1..=TENSORS)
        .scan(0.0, |sum, rank| {
            *sum += 1.0 / rank as f64 / total;
            Some(*sum)
        })
        .collect();
    let mut dice = Dice::new(1);
    let mut reads = [0_u32; 33];
    for minute in 0..3 * DAY / MINUTE {
        let now = START + minute * MINUTE;
        for _ in 0..20 {
            let rolled = dice.below(1 << 30) as f64 / f64::from(1 << 30);
            let rank = sums.partition_point(|sum| *sum < rolled).min(TENSORS - 1);
            if minute > DAY / MINUTE {
                reads[usize::from(world.tensors[rank].stored.bits())] += 1;
            }
            world.read(rank, now);
        }
        if minute % 10 == 0 {
            world.tick(now);
        }
    }
    let all: u32 = reads.iter().sum();
    let share = |bits: usize| f64::from(reads[bits]) / f64::from(all);
    let held = |tier| world.tensors.iter().filter(|c| c.stored == tier).count();
    assert!(world.tensors[..10].iter().all(|c| c.stored == Hot));
    assert!(share(8) > 0.45 && share(8) + share(7) > 0.6, "{} {}", share(8), share(7));
    assert!(held(Hot) < TENSORS / 10, "{}", held(Hot));
    assert!(held(Cold) > TENSORS / 2, "{}", held(Cold));
    // Without writes, the precision only decreases: at most three steps per tensor.
    assert!((0..TENSORS).all(|index| path(&world, index).len() <= 3));
    assert!(world.moved.iter().all(|m| m.reason == Reason::Use && m.to > m.from));
}

#[test]
fn a_clock_that_goes_back_moves_no_tensor() {
    let mut world = roomy();
    for tier in [Hot, Warm, Cold] {
        world.add(tier, 1000, START);
    }
    for now in [START - MINUTE, START - DAY, START - 300 * DAY, 0] {
        assert_eq!(world.tick(now).moves, [], "{now}");
        (0..3).for_each(|index| world.read(index, now));
    }
    assert!(world.tensors.iter().all(|c| c.usage.last == START));
    // After the clock is corrected, the result is as if it had always been right.
    let mut straight = roomy();
    for tier in [Hot, Warm, Cold] {
        straight.add(tier, 1000, START);
    }
    for minute in 0..2 * DAY / MINUTE {
        world.tick(START + minute * MINUTE);
        straight.tick(START + minute * MINUTE);
    }
    assert_eq!(world.moved, straight.moved);
    assert_eq!(world.moved.len(), 6);
}

#[test]
fn infrequent_ticks_reach_the_same_tiers_as_frequent_ones() {
    let end = |step: u64| {
        let mut world = roomy();
        world.add(Hot, 1000, START);
        let mut now = START;
        while now < START + 5 * DAY {
            now += step;
            world.tick(now);
        }
        assert!(world.moved.windows(2).all(|pair| pair[1].from == pair[0].to));
        (world.tensors[0].stored, world.moved.len())
    };
    assert_eq!([end(MINUTE), end(HOUR), end(DAY)], [(Absent, 3); 3]);
}
