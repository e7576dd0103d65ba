//! The true score is inside every interval, and proven answers are among the true best, for hostile values too.

use std::collections::HashSet;
use std::sync::Arc;

use bitgrain_store::{Clock, SearchMetric, SearchOptions, SearchResult, SimulatedClock, StoreConfig, Tier};
use proptest::prelude::*;

use crate::{Random, TIERS, World, better, put, score, with, world, world_with};

/// Values that broke arithmetic in the past, or could.
const HOSTILE: [f32; 10] = [0.0, -0.0, 1e-45, -1e-38, 1.0, -1.0, 1e-3, 6e4, 1e30, -3e38];

fn value() -> impl Strategy<Value = f32> + Clone {
    prop_oneof![4 => -1.0_f32..1.0, 1 => prop::sample::select(&HOSTILE[..]), 1 => -1e6_f32..1e6]
}

/// Vectors of one length, with a tier each.
fn vectors() -> impl Strategy<Value = (Vec<(Vec<f32>, Tier)>, Vec<f32>)> {
    prop::sample::select(&[1_usize, 7, 8, 40, 128, 130, 300][..]).prop_flat_map(|len| {
        let vector = prop::collection::vec(value(), len);
        let stored = (vector.clone(), prop::sample::select(&TIERS[..]));
        (prop::collection::vec(stored, 1..24), vector)
    })
}

/// Checks all promises of a search against brute force on the values as put.
fn check(world: &World, stored: &[(Vec<f32>, Tier)], query: &[f32], metric: SearchMetric, k: usize, exact: bool) {
    let options = SearchOptions { exact, ..with(metric) };
    let found = world.store.search(&[query], k, &options).expect("valid input").remove(0);
    let truth = check_hits(&found, stored, query, metric, k);
    // The answers are the best by the score of decoded values, in order.
    let decoded: Vec<f64> = (0..stored.len())
        .map(|i| score(metric, query, &world.store.get(i.to_string().as_str()).expect("stored").values))
        .collect();
    let mut best = decoded.clone();
    best.sort_by(|a, b| if metric == SearchMetric::SquaredL2 { a.total_cmp(b) } else { b.total_cmp(a) });
    for (hit, best) in found.hits.iter().zip(best) {
        let sizes = query.iter().map(|v| f64::from(v.abs())).sum::<f64>().powi(2).max(best.abs());
        let close = (hit.score - best).abs() <= 1e-12 * sizes.max(hit.score.abs()) || hit.score == best;
        let relative = (hit.score - best).abs() <= 1e-9 * best.abs();
        assert!(close || relative || metric == SearchMetric::SquaredL2, "{metric:?}: {} instead of {best}", hit.score);
    }
    let lossless = stored.iter().all(|(_, tier)| *tier == Tier::Lossless);
    let mut sorted = truth.clone();
    sorted.sort_by(f64::total_cmp);
    let distinct = sorted.windows(2).all(|pair| pair[1] - pair[0] > 1e-6 * pair[1].abs().max(pair[0].abs()));
    if exact && lossless && distinct && metric != SearchMetric::SquaredL2 {
        assert_eq!(found.certified, found.hits.len(), "{metric:?}: lossless vectors are all proven");
    }
}

/// Checks the intervals and proofs of a result; returns the true scores.
fn check_hits(
    found: &SearchResult,
    stored: &[(Vec<f32>, Tier)],
    query: &[f32],
    metric: SearchMetric,
    k: usize,
) -> Vec<f64> {
    let truth: Vec<f64> = stored.iter().map(|(values, _)| score(metric, query, values)).collect();
    assert_eq!(found.hits.len(), k.min(stored.len()));
    assert_eq!(found.certified, found.hits.iter().filter(|hit| hit.certified).count());
    for hit in &found.hits {
        let at: usize = hit.id.to_string().parse().expect("a number");
        // The reference has rounding errors too.
        let rounding = 1e-12 * truth[at].abs() + f64::MIN_POSITIVE;
        let inside = hit.low - rounding <= truth[at] && truth[at] <= hit.high + rounding;
        assert!(inside, "{metric:?} {:?}: {} is not in {}..{}", stored[at].1, truth[at], hit.low, hit.high);
        assert!(hit.low <= hit.score && hit.score <= hit.high, "{hit:?}");
        let ahead = truth.iter().filter(|other| better(metric, **other - metric_sign(metric) * rounding, truth[at]));
        assert!(!hit.certified || ahead.count() < k, "{metric:?}: {hit:?} is not among the best {k}");
    }
    truth
}

/// Sign of an improvement of the score.
fn metric_sign(metric: SearchMetric) -> f64 {
    if metric == SearchMetric::SquaredL2 { -1.0 } else { 1.0 }
}

fn fill(stored: &[(Vec<f32>, Tier)]) -> World {
    let world = world();
    put_all(&world, stored);
    world
}

fn put_all(world: &World, stored: &[(Vec<f32>, Tier)]) {
    for (i, (values, tier)) in stored.iter().enumerate() {
        put(&world.store, &i.to_string(), &[values.len()], values, *tier);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn true_scores_are_inside_and_proven_answers_are_right((stored, query) in vectors(), k in 1_usize..30) {
        let world = fill(&stored);
        for metric in SearchMetric::ALL {
            if metric == SearchMetric::Cosine && query.iter().all(|v| *v == 0.0) {
                continue;
            }
            for exact in [false, true] {
                check(&world, &stored, &query, metric, k, exact);
            }
        }
    }
}

#[test]
fn every_tier_and_metric_at_a_size_where_most_vectors_are_excluded() {
    let mut random = Random(5);
    let centers: Vec<Vec<f32>> = (0..20).map(|_| random.vector(96)).collect();
    for tier in TIERS {
        let stored: Vec<(Vec<f32>, Tier)> =
            (0..3000).map(|i| (centers[i % 20].iter().map(|c| c + 0.3 * random.unit()).collect(), tier)).collect();
        let world = fill(&stored);
        for metric in SearchMetric::ALL {
            for query in [random.vector(96), stored[7].0.clone()] {
                check(&world, &stored, &query, metric, 10, false);
                check(&world, &stored, &query, metric, 10, true);
            }
        }
        let query = &stored[11].0;
        let found = world.store.search(&[query], 10, &with(SearchMetric::Cosine)).expect("valid").remove(0);
        let expected = match tier {
            Tier::Lossless => 10,
            Tier::F16 => 8,
            Tier::Cold => 0,
            _ => 1,
        };
        assert!(found.certified >= expected, "{tier:?}: {} of 10 are proven", found.certified);
    }
}

#[test]
fn re_encoded_vectors_keep_their_intervals() {
    const HOUR: u64 = 3_600_000;
    let clock = Arc::new(SimulatedClock::new(HOUR));
    let world = world_with(StoreConfig { clock: Arc::clone(&clock) as Arc<dyn Clock>, ..StoreConfig::default() });
    let mut random = Random(6);
    let stored: Vec<(Vec<f32>, Tier)> = (0..200).map(|_| (random.vector(128), Tier::Hot)).collect();
    put_all(&world, &stored);
    let query = random.vector(128);
    let mut seen = HashSet::new();
    for hour in 2..40 {
        clock.set(hour * HOUR);
        world.store.tick(hour * HOUR).expect("ticks");
        let tier = world.store.meta("0").expect("stored").provenance.tier;
        if tier != Tier::Absent && seen.insert(tier) {
            for metric in SearchMetric::ALL {
                // Other than a test of answers, this reads no tensor, so the tiers continue to fall.
                let found = world.store.search(&[&query], 1, &with(metric)).expect("valid").remove(0);
                check_hits(&found, &stored, &query, metric, 1);
            }
        }
    }
    assert!(seen.len() >= 3, "{seen:?}");
}

#[test]
fn a_batch_gives_the_answers_of_its_queries() {
    let mut random = Random(7);
    let stored: Vec<(Vec<f32>, Tier)> =
        (0..2500).map(|i| (random.vector(64), [Tier::Hot, Tier::B4, Tier::Lossless][i % 3])).collect();
    let world = fill(&stored);
    let queries: Vec<Vec<f32>> = (0..23).map(|_| random.vector(64)).collect();
    let queries: Vec<&[f32]> = queries.iter().map(|query| &query[..]).collect();
    for metric in SearchMetric::ALL {
        let together = world.store.search(&queries, 7, &with(metric)).expect("valid");
        for (query, together) in queries.iter().zip(together) {
            let alone = world.store.search(&[query], 7, &with(metric)).expect("valid").remove(0);
            let answers = |hits: &[bitgrain_store::SearchHit]| -> Vec<_> {
                hits.iter().map(|hit| (hit.id.clone(), hit.row, hit.score, hit.low, hit.high)).collect()
            };
            assert_eq!(answers(&together.hits), answers(&alone.hits), "{metric:?}");
        }
    }
}
