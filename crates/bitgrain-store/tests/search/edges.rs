//! Matrices, tensors without own values, bad input.

use bitgrain_store::reconstruct::{DeltaValues, Reconstruction};
use bitgrain_store::{SearchMetric, SearchOptions, StoreError, Tier};

use crate::{Random, TIERS, put, score, with, world};

#[test]
fn rows_of_matrices_are_found_whether_or_not_blocks_divide_them() {
    let mut random = Random(31);
    for columns in [5, 64, 100, 128, 384] {
        for tier in TIERS {
            let world = world();
            let matrix = random.vector(300 * columns);
            put(&world.store, "m", &[300, columns], &matrix, tier);
            put(&world.store, "v", &[columns], &matrix[..columns], tier);
            let query = random.vector(columns);
            for metric in SearchMetric::ALL {
                let found = world.store.search(&[&query], 9, &with(metric)).expect("valid").remove(0);
                let decoded = world.store.get("m").expect("stored").values;
                let mut best: Vec<f64> = decoded.chunks(columns).map(|row| score(metric, &query, row)).collect();
                best.push(score(metric, &query, &world.store.get("v").expect("stored").values));
                best.sort_by(|a, b| if metric == SearchMetric::SquaredL2 { a.total_cmp(b) } else { b.total_cmp(a) });
                for (hit, best) in found.hits.iter().zip(best) {
                    assert!((hit.score - best).abs() < 1e-9 * (1.0 + best.abs()), "{tier:?} {columns} {metric:?}");
                    let from = if hit.id == "m".into() { hit.row * columns } else { 0 };
                    let truth = score(metric, &query, &matrix[from..from + columns]);
                    assert!(hit.low - 1e-9 <= truth && truth <= hit.high + 1e-9, "{tier:?} {columns} {metric:?}");
                }
            }
        }
    }
}

#[test]
fn invalid_queries_are_typed_errors() {
    let world = world();
    put(&world.store, "a", &[2], &[1.0, 2.0], Tier::Hot);
    let search = |queries: &[&[f32]], k, metric| world.store.search(queries, k, &with(metric));
    let ip = SearchMetric::InnerProduct;
    let error = search(&[&[1.0, 2.0], &[1.0, f32::NAN]], 1, ip).expect_err("NaN");
    assert!(matches!(error, StoreError::QueryNotFinite { query: 1, index: 1 }), "{error}");
    let error = search(&[&[f32::INFINITY, 2.0]], 1, ip).expect_err("infinite");
    assert!(matches!(error, StoreError::QueryNotFinite { query: 0, index: 0 }), "{error}");
    let error = search(&[&[1.0, 2.0], &[1.0]], 1, ip).expect_err("different lengths");
    assert!(matches!(error, StoreError::QueryLength { query: 1, got: 1 }), "{error}");
    assert!(matches!(search(&[&[]], 1, ip), Err(StoreError::QueryLength { query: 0, got: 0 })));
    assert!(matches!(search(&[&[1.0, 2.0]], 0, ip), Err(StoreError::NoAnswers)));
    assert!(matches!(search(&[&[0.0, 0.0]], 1, SearchMetric::Cosine), Err(StoreError::ZeroQuery { query: 0 })));
    assert!(matches!(search(&[&[1.0]], 1, ip), Err(StoreError::SearchShape { columns: 1, .. })));
    let both = SearchOptions { exact: true, approximate: true, ..with(ip) };
    assert!(matches!(world.store.search(&[&[1.0, 2.0]], 1, &both), Err(StoreError::ApproximateProofs)));
    assert!(search(&[], 1, ip).expect("no queries").is_empty());
    assert!(matches!("dot".parse::<SearchMetric>(), Err(StoreError::UnknownMetric { .. })));
}

#[test]
fn more_answers_than_vectors_are_all_vectors_and_all_proven() {
    let world = world();
    for (i, tier) in TIERS.into_iter().enumerate() {
        put(&world.store, &i.to_string(), &[2], &[1.0, 2.0], tier);
    }
    for k in [8, 9, 1_000_000_000] {
        let found = world.store.search(&[&[1.0, 2.0]], k, &with(SearchMetric::Cosine)).expect("valid").remove(0);
        assert_eq!((found.hits.len(), found.certified), (8, 8), "k {k}");
    }
}

#[test]
fn zero_vectors_have_cosine_zero() {
    let world = world();
    put(&world.store, "zero", &[2], &[0.0, 0.0], Tier::Lossless);
    put(&world.store, "one", &[2], &[1.0, 0.0], Tier::Lossless);
    let found = world.store.search(&[&[1.0, 0.0]], 2, &with(SearchMetric::Cosine)).expect("valid").remove(0);
    let scores: Vec<f64> = found.hits.iter().map(|hit| hit.score).collect();
    assert_eq!(scores, [1.0, 0.0]);
}

#[test]
fn reconstructed_and_temporal_tensors_are_found_and_evicted_ones_counted() {
    let world = world();
    let store = &world.store;
    put(store, "base", &[2], &[1.0, 0.0], Tier::Lossless);
    let delta = Reconstruction::Delta { base: "base".into(), values: DeltaValues::Delta(vec![1.0, 0.0]) };
    store.put_absent("delta", &[2], &delta).expect("a base");
    store.append("frames", &[2], &[0.0, 5.0], 1).expect("a frame");
    store.append("frames", &[2], &[5.0, 0.0], 2).expect("a frame");
    let found = store.search(&[&[1.0, 0.0]], 3, &with(SearchMetric::InnerProduct)).expect("valid").remove(0);
    let ids: Vec<String> = found.hits.iter().map(|hit| hit.id.to_string()).collect();
    assert_eq!(ids, ["frames", "delta", "base"]);
    for (hit, truth) in found.hits.iter().zip([5.0, 2.0, 1.0]) {
        assert!(hit.low <= truth && truth <= hit.high, "{hit:?}");
    }
    let base = SearchOptions { prefix: Some("base".into()), ..with(SearchMetric::InnerProduct) };
    assert_eq!(store.search(&[&[1.0, 0.0]], 3, &base).expect("valid")[0].hits.len(), 1);
}
