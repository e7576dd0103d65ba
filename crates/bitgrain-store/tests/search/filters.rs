//! Prefixes, ids and user metadata are applied inside the scan: the best of what is selected are found.

use bitgrain_store::{PutOptions, SearchMetric, SearchOptions, StoreError, TensorStore, Tier};

use crate::{Random, put, score, with, world};

fn ids(store: &TensorStore, query: &[f32], k: usize, options: &SearchOptions) -> Vec<String> {
    let found = store.search(&[query], k, options).expect("valid input").remove(0);
    found.hits.into_iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn the_best_of_the_selected_are_found_at_any_selectivity() {
    let (world, mut random) = (world(), Random(21));
    let vectors: Vec<Vec<f32>> = (0..4000).map(|_| random.vector(24)).collect();
    let name = |i: usize| format!("{}/{i}", if i.is_multiple_of(10) { "few" } else { "many" });
    for (i, vector) in vectors.iter().enumerate() {
        let user = if i % 100 == 7 { vec![("lang".to_owned(), "de".to_owned())] } else { Vec::new() };
        let options = PutOptions { user: Some(user), ..PutOptions::default() };
        world.store.put_with(name(i).as_str(), &[24], vector, &options).expect("valid");
    }
    let query = random.vector(24);
    let best = |keep: &dyn Fn(usize) -> bool, k: usize| {
        let mut all: Vec<(f64, usize)> = (0..vectors.len())
            .filter(|i| keep(*i))
            .map(|i| {
                (score(SearchMetric::Cosine, &query, &world.store.get(name(i).as_str()).expect("stored").values), i)
            })
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().take(k).map(|(_, i)| name(i)).collect::<Vec<_>>()
    };
    let cosine = with(SearchMetric::Cosine);
    let few = SearchOptions { prefix: Some("few/".into()), ..cosine.clone() };
    assert_eq!(ids(&world.store, &query, 10, &few), best(&|i| i.is_multiple_of(10), 10));
    let german = SearchOptions { filter: vec![("lang".into(), "de".into())], ..cosine.clone() };
    assert_eq!(ids(&world.store, &query, 10, &german), best(&|i| i % 100 == 7, 10));
    for step in [1, 2, 50, 1000] {
        let listed = (0..4000).step_by(step).map(|i| name(i).as_str().into()).collect();
        let some = SearchOptions { ids: Some(listed), ..cosine.clone() };
        assert_eq!(ids(&world.store, &query, 10, &some), best(&|i| i.is_multiple_of(step), 10), "every {step}");
    }
    let both = SearchOptions {
        prefix: Some("few/".into()),
        ids: Some(vec![name(10).as_str().into(), name(11).as_str().into()]),
        ..cosine
    };
    assert_eq!(ids(&world.store, &query, 10, &both), [name(10)]);
}

#[test]
fn filters_that_exclude_everything_give_no_answers() {
    let world = world();
    put(&world.store, "a", &[2], &[1.0, 2.0], Tier::Hot);
    let ip = with(SearchMetric::InnerProduct);
    for options in [
        SearchOptions { prefix: Some("b".into()), ..ip.clone() },
        SearchOptions { ids: Some(vec!["b".into()]), ..ip.clone() },
        SearchOptions { ids: Some(Vec::new()), ..ip.clone() },
        SearchOptions { filter: vec![("key".into(), "value".into())], ..ip },
    ] {
        let found = world.store.search(&[&[1.0, 2.0]], 5, &options).expect("valid").remove(0);
        assert_eq!((found.hits.len(), found.certified, found.skipped), (0, 0, 0), "{options:?}");
    }
}

#[test]
fn a_prefix_separates_collections_of_different_shapes() {
    let world = world();
    put(&world.store, "small/1", &[2], &[1.0, 2.0], Tier::Hot);
    put(&world.store, "large/1", &[3], &[1.0, 2.0, 3.0], Tier::Hot);
    put(&world.store, "cube", &[2, 2, 2], &[1.0; 8], Tier::Hot);
    let ip = with(SearchMetric::InnerProduct);
    let error = world.store.search(&[&[1.0, 2.0]], 5, &ip).expect_err("mixed shapes");
    assert!(matches!(error, StoreError::SearchShape { columns: 2, .. }), "{error}");
    for (prefix, query) in [("small/", &[1.0, 2.0][..]), ("large/", &[1.0, 2.0, 3.0][..])] {
        let options = SearchOptions { prefix: Some(prefix.into()), ..ip.clone() };
        assert_eq!(ids(&world.store, query, 5, &options), [format!("{prefix}1")]);
    }
    let wrong = SearchOptions { prefix: Some("large/".into()), ..ip };
    let error = world.store.search(&[&[1.0, 2.0]], 5, &wrong).expect_err("another length");
    assert_eq!(
        error.to_string(),
        "tensor `large/1` has shape [3], which does not match a query of 2 values; select tensors of one shape with a \
         prefix or ids"
    );
}
