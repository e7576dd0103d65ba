//! Writes are found at once, deletions vanish at once, and nothing changes when records move.

use bitgrain_store::{
    CompactOptions, Dependents, SearchMetric, SearchOptions, StoreConfig, SyncMode, TensorId, TensorStore, Tier,
};

use crate::{Random, put, with, world, world_with};

/// Ids of the answers.
fn ids(store: &TensorStore, query: &[f32], k: usize, options: &SearchOptions) -> Vec<String> {
    let found = store.search(&[query], k, options).expect("valid input").remove(0);
    found.hits.into_iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn every_write_is_found_by_the_next_search() {
    let world = world();
    let (store, ip) = (&world.store, with(SearchMetric::InnerProduct));
    assert!(ids(store, &[1.0; 4], 3, &ip).is_empty());
    for i in 1_u16..200 {
        let id = format!("v{i:03}");
        put(store, &id, &[4], &[f32::from(i); 4], Tier::Hot);
        assert_eq!(ids(store, &[1.0; 4], 1, &ip), [id], "put");
    }
    for i in (100_u16..200).rev() {
        store.delete(format!("v{i:03}").as_str(), Dependents::Refuse).expect("stored");
        assert_eq!(ids(store, &[1.0; 4], 1, &ip), [format!("v{:03}", i - 1)], "deleted");
    }
    put(store, "v001", &[4], &[500.0; 4], Tier::B4);
    assert_eq!(ids(store, &[1.0; 4], 2, &ip), ["v001", "v099"], "replaced");
    let mut batch = store.batch();
    batch.put("x", &[4], &[900.0; 4]).expect("valid");
    batch.delete("v099");
    batch.commit().expect("a valid batch");
    assert_eq!(ids(store, &[1.0; 4], 3, &ip), ["x", "v001", "v098"], "batch");
}

#[test]
fn compaction_reopening_and_small_segments_change_no_answer() {
    let config = StoreConfig { segment_bytes: 1 << 20, sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let open = || TensorStore::open(folder.path(), StoreConfig { create: true, ..config.clone() }).expect("a store");
    let (store, mut random) = (open(), Random(3));
    let mut live = Vec::new();
    for i in 0..1500_usize {
        let (id, vector) = (format!("v{}", i % 1000), random.vector(100));
        put(&store, &id, &[100], &vector, [Tier::Hot, Tier::B4, Tier::F16][i % 3]);
        if i % 1000 == i {
            live.push(id);
        }
        if i.is_multiple_of(300) {
            ids(&store, &random.vector(100), 3, &with(SearchMetric::Cosine));
        }
    }
    live.iter().step_by(3).for_each(|id| store.delete(id.as_str(), Dependents::Refuse).expect("stored"));
    let query = random.vector(100);
    let answers = |store: &TensorStore| {
        SearchMetric::ALL.map(|metric| store.search(&[&query], 20, &with(metric)).expect("valid").remove(0))
    };
    let before = answers(&store);
    assert_eq!(before[0].hits.len(), 20);
    store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("space");
    assert_eq!(answers(&store), before, "compacted");
    store.close().expect("closed");
    let store = open();
    assert_eq!(answers(&store), before, "reopened");
}

#[test]
fn searches_during_writes_see_whole_batches() {
    let world = world();
    let store = &world.store;
    let batch = |round: f32| {
        let mut batch = store.batch();
        for i in 0..8 {
            batch.put(format!("v{i}").as_str(), &[2], &[round, 1.0]).expect("valid");
        }
        batch.commit().expect("a valid batch");
    };
    batch(1.0);
    std::thread::scope(|scope| {
        scope.spawn(|| (2..300_u16).for_each(|round| batch(f32::from(round))));
        for _ in 0..300 {
            let found = store.search(&[&[1.0, 0.0]], 8, &with(SearchMetric::InnerProduct)).expect("valid").remove(0);
            let scores: Vec<f64> = found.hits.iter().map(|hit| hit.score).collect();
            assert_eq!(scores.len(), 8);
            assert!(scores.iter().all(|score| *score == scores[0]), "part of a batch: {scores:?}");
        }
    });
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let world = world();
    let mut random = Random(9);
    for i in 0..5000 {
        // Many equal vectors, so that ties are decided too.
        let vector = if i % 3 < 1 { vec![0.5; 32] } else { random.vector(32) };
        put(&world.store, &format!("v{i}"), &[32], &vector, Tier::B4);
    }
    let query = vec![1.0; 32];
    let search = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| world.store.search(&[&query], 30, &with(SearchMetric::Cosine)).expect("valid"))
    };
    let one = search(1);
    for threads in [2, 3, 8] {
        assert_eq!(search(threads), one, "{threads} threads");
    }
}

#[test]
fn stores_without_memory_maps_give_the_same_answers() {
    let mut random = Random(10);
    let vectors: Vec<Vec<f32>> = (0..600).map(|_| random.vector(70)).collect();
    let query = random.vector(70);
    let search = |mapped| {
        let world = world_with(StoreConfig { mapped, ..StoreConfig::default() });
        for (i, vector) in vectors.iter().enumerate() {
            put(&world.store, &format!("v{i}"), &[70], vector, [Tier::Hot, Tier::Cold, Tier::Lossless][i % 3]);
        }
        world.store.search(&[&query], 12, &with(SearchMetric::SquaredL2)).expect("valid")
    };
    assert_eq!(search(false), search(true));
}

#[test]
fn answers_count_as_used_and_others_do_not() {
    let world = world();
    put(&world.store, "near", &[2], &[1.0, 0.0], Tier::Hot);
    put(&world.store, "far", &[2], &[0.0, 1.0], Tier::Hot);
    let accesses = |id: &str| world.store.meta(id).expect("stored").accesses;
    let before = (accesses("near"), accesses("far"));
    ids(&world.store, &[1.0, 0.0], 1, &with(SearchMetric::Cosine));
    assert_eq!((accesses("near"), accesses("far")), (before.0 + 1, before.1));
}

#[test]
fn numbers_are_found_like_names() {
    let world = world();
    world.store.put(7_u128, &[3], &[1.0, 2.0, 3.0]).expect("valid");
    let found = world.store.search(&[&[1.0, 2.0, 3.0]], 5, &with(SearchMetric::SquaredL2)).expect("valid").remove(0);
    assert_eq!(found.hits[0].id, TensorId::from(7_u128));
}
