//! Approximate searches: nearly all answers of the full scan, with the same scores, after any change.

use bitgrain_store::{
    CompactOptions, Dependents, SearchHit, SearchMetric, SearchOptions, StoreConfig, TensorStore, Tier,
};

use crate::{Random, TIERS, World, put, with, world, world_with};

fn approximate(metric: SearchMetric) -> SearchOptions {
    SearchOptions { approximate: true, ..with(metric) }
}

/// Vectors in clusters, so that many are close to a query.
fn clusters(random: &mut Random, count: usize, columns: usize) -> Vec<Vec<f32>> {
    let centers: Vec<Vec<f32>> = (0..40).map(|_| random.vector(columns)).collect();
    (0..count).map(|i| centers[i % 40].iter().map(|c| 0.3 + c + 0.8 * random.unit()).collect()).collect()
}

fn filled(vectors: &[Vec<f32>], config: StoreConfig, tier: impl Fn(usize) -> Tier) -> World {
    let world = world_with(config);
    for (i, vector) in vectors.iter().enumerate() {
        put(&world.store, &i.to_string(), &[vector.len()], vector, tier(i));
    }
    world
}

/// Answers without proofs, which an approximate search does not have.
fn scores(hits: &[SearchHit]) -> Vec<(String, usize, f64, f64, f64)> {
    hits.iter().map(|hit| (hit.id.to_string(), hit.row, hit.score, hit.low, hit.high)).collect()
}

/// Share of the answers of the full scan that an approximate search finds. All scores must be those of the scan.
fn recall(store: &TensorStore, queries: &[&[f32]], k: usize, options: &SearchOptions) -> f64 {
    let full = SearchOptions { approximate: false, ..options.clone() };
    let (full, found) =
        (store.search(queries, k, &full).expect("valid"), store.search(queries, k, options).expect("valid"));
    let (mut hits, mut all) = (0.0, 0.0);
    for (full, found) in full.iter().zip(&found) {
        assert_eq!(found.hits.len(), full.hits.len());
        let (full, found) = (scores(&full.hits), scores(&found.hits));
        hits += full.iter().filter(|hit| found.contains(hit)).count() as f64;
        all += full.len() as f64;
    }
    hits / all
}

#[test]
fn nearly_all_answers_are_found_in_every_tier_and_metric() {
    let mut random = Random(41);
    let vectors = clusters(&mut random, 3000, 100);
    let queries: Vec<Vec<f32>> =
        (0..20).map(|i| vectors[i * 7].iter().map(|v| v + 0.3 * random.unit()).collect()).collect();
    let queries: Vec<&[f32]> = queries.iter().map(|query| &query[..]).collect();
    for tier in TIERS {
        let world = filled(&vectors, StoreConfig::default(), |_| tier);
        for metric in SearchMetric::ALL {
            let recall = recall(&world.store, &queries, 10, &approximate(metric));
            assert!(recall >= 0.99, "{tier:?} {metric:?}: {recall}");
            let found = world.store.search(&queries[..1], 10, &approximate(metric)).expect("valid").remove(0);
            assert_eq!(found.certified, 0, "{tier:?} {metric:?}: nothing is known about vectors that were not read");
        }
    }
}

#[test]
fn changes_are_seen_at_once() {
    let mut random = Random(42);
    let vectors = clusters(&mut random, 5000, 64);
    let config = StoreConfig { segment_bytes: 1 << 20, ..StoreConfig::default() };
    let world = filled(&vectors, config, |i| [Tier::Hot, Tier::B4][i % 2]);
    let store = &world.store;
    let ip = approximate(SearchMetric::InnerProduct);
    let best = |query: &[f32]| store.search(&[query], 1, &ip).expect("valid")[0].hits[0].id.to_string();
    let query = vectors[123].clone();
    best(&query);
    for round in 0..3_u16 {
        let far: Vec<f32> = query.iter().map(|value| value * f32::from(10 + round)).collect();
        put(store, "new", &[64], &far, Tier::Hot);
        assert_eq!(best(&query), "new", "put");
        if round == 1 {
            store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("space");
            assert_eq!(best(&query), "new", "compacted");
        }
        store.delete("new", Dependents::Refuse).expect("stored");
        assert_ne!(best(&query), "new", "deleted");
        for i in 0..1500 {
            put(store, &format!("more{round}/{i}"), &[64], &random.vector(64), Tier::Hot);
        }
        let many: Vec<&[f32]> = vectors.iter().step_by(250).map(Vec::as_slice).collect();
        let recall = recall(store, &many, 10, &ip);
        assert!(recall >= 0.99, "round {round}: {recall}");
    }
}

#[test]
fn filters_select_inside_the_search() {
    let mut random = Random(43);
    let vectors = clusters(&mut random, 4000, 64);
    let world = filled(&vectors, StoreConfig::default(), |_| Tier::Hot);
    let queries: Vec<&[f32]> = vectors.iter().step_by(400).map(Vec::as_slice).collect();
    let cosine = approximate(SearchMetric::Cosine);
    let ids = |step| Some((0..4000).step_by(step).map(|i: usize| i.to_string().as_str().into()).collect());
    for options in [
        SearchOptions { prefix: Some("3".into()), ..cosine.clone() },
        SearchOptions { prefix: Some("3999".into()), ..cosine.clone() },
        SearchOptions { prefix: Some("none".into()), ..cosine.clone() },
        SearchOptions { ids: ids(2), ..cosine.clone() },
        SearchOptions { ids: ids(500), ..cosine.clone() },
        SearchOptions { filter: vec![("lang".into(), "de".into())], ..cosine },
    ] {
        let recall = recall(&world.store, &queries, 10, &options);
        assert!(recall.is_nan() || recall >= 0.98, "{:?}: {recall}", options.prefix);
    }
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads_or_queries() {
    let mut random = Random(44);
    let vectors = clusters(&mut random, 6000, 96);
    let world = filled(&vectors, StoreConfig::default(), |_| Tier::B4);
    let queries: Vec<&[f32]> = vectors.iter().step_by(700).map(Vec::as_slice).collect();
    let search = |threads, queries: &[&[f32]]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| world.store.search(queries, 10, &approximate(SearchMetric::SquaredL2)).expect("valid"))
    };
    let one = search(1, &queries);
    for threads in [2, 5] {
        assert_eq!(search(threads, &queries), one, "{threads} threads");
    }
    for (query, result) in queries.iter().zip(one) {
        assert_eq!(search(2, &[query]), [result]);
    }
}

#[test]
fn rows_of_a_matrix_are_found() {
    let (world, mut random) = (world(), Random(45));
    let rows = clusters(&mut random, 3000, 128);
    put(&world.store, "m", &[3000, 128], &rows.concat(), Tier::Hot);
    let queries: Vec<&[f32]> = rows.iter().step_by(300).map(Vec::as_slice).collect();
    assert!(recall(&world.store, &queries, 5, &approximate(SearchMetric::Cosine)) >= 0.98);
}

#[test]
fn values_near_the_limits_of_floats_do_not_lose_answers() {
    for factor in [1e-40, 1e-25, 1e18, 3e37] {
        let mut random = Random(46);
        let vectors: Vec<Vec<f32>> = clusters(&mut random, 1200, 64)
            .into_iter()
            .map(|vector| vector.into_iter().map(|value| value * factor).collect())
            .collect();
        let world = filled(&vectors, StoreConfig::default(), |_| Tier::Lossless);
        let queries: Vec<&[f32]> = vectors.iter().step_by(200).map(Vec::as_slice).collect();
        for metric in SearchMetric::ALL {
            let recall = recall(&world.store, &queries, 5, &approximate(metric));
            assert!(recall >= 0.98, "{factor:e} {metric:?}: {recall}");
        }
    }
}

#[test]
fn zero_and_equal_vectors_are_answers_like_others() {
    let world = world();
    for i in 0..2000 {
        put(&world.store, &i.to_string(), &[64], &[f32::from(u8::from(i % 2 == 0)); 64], Tier::Hot);
    }
    for metric in SearchMetric::ALL {
        assert!((recall(&world.store, &[&[1.0; 64]], 5, &approximate(metric)) - 1.0).abs() < 1e-9, "{metric:?}");
    }
}

#[test]
fn small_stores_are_scanned_with_proofs() {
    let world = world();
    put(&world.store, "a", &[2], &[1.0, 2.0], Tier::Hot);
    let found = world.store.search(&[&[1.0, 2.0]], 3, &approximate(SearchMetric::Cosine)).expect("valid").remove(0);
    assert_eq!((found.hits.len(), found.certified), (1, 1));
}
