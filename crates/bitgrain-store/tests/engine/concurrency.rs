//! Concurrent access.

use bitgrain_store::{Dependents, PutOptions, StoreConfig, StoreError, TensorStore, Tier};

use super::{open, small_segments, wave};

#[test]
fn writers_of_many_threads_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    std::thread::scope(|scope| {
        for thread in 0..8_usize {
            let store = &store;
            scope.spawn(move || {
                for i in 0..25_usize {
                    store.put((thread * 100 + i) as u128, &[50], &wave(thread * 100 + i, 50)).expect("put");
                }
            });
        }
    });
    assert_eq!(store.len(), 200);
    store.close().expect("closes");
    let store = open(folder.path());
    for id in (0..8_usize).flat_map(|thread| (0..25).map(move |i| thread * 100 + i)) {
        let tensor = store.get(id as u128).expect("there");
        assert!(super::distance(&tensor.values, &wave(id, 50)) <= tensor.provenance.bound);
    }
}

#[test]
fn concurrent_metadata_changes_of_a_tensor_do_not_undo_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    store.put("x", &[100], &wave(0, 100)).expect("put");
    std::thread::scope(|scope| {
        scope.spawn(|| (1..=100).for_each(|i| _ = store.put("x", &[100], &wave(i, 100)).expect("put")));
        scope.spawn(|| {
            for i in 0..100 {
                store.pin("x", Some(if i % 2 == 0 { Tier::Cold } else { Tier::Warm })).expect("pinned");
            }
        });
        scope.spawn(|| {
            for i in 0..100 {
                store.set_user("x", &[("round".into(), i.to_string())]).expect("written down");
            }
        });
    });
    let meta = store.meta("x").expect("there");
    assert_eq!((meta.pinned, &meta.user[..]), (Some(Tier::Warm), &[("round".into(), "99".into())][..]));
    let tensor = store.get("x").expect("there");
    assert!(super::distance(&tensor.values, &wave(100, 100)) <= tensor.provenance.bound, "the last values are lost");
}

#[test]
fn a_put_that_overlaps_a_pin_does_not_undo_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    let values = wave(1, 100_000); // encoding takes a while, without a lock
    store.put("x", &[100_000], &values).expect("put");
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                store.put("x", &[100_000], &values).expect("put");
            }
        });
        let _over = super::Over(&done);
        for i in 0..30 {
            let tier = [Tier::Hot, Tier::Warm, Tier::Cold][i % 3];
            store.pin("x", Some(tier)).expect("pinned");
            std::thread::sleep(std::time::Duration::from_millis(10));
            assert_eq!(store.meta("x").expect("there").pinned, Some(tier), "round {i}");
        }
    });
}

#[test]
fn tensors_under_concurrent_deletion_are_read_completely_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    std::thread::scope(|scope| {
        for seed in 0..2_usize {
            let store = &store;
            scope.spawn(move || {
                for i in 0..150_usize {
                    let id = ((i * 31 + seed * 7) % 10) as u128;
                    let options = PutOptions { tier: Some(Tier::ALL[i % 5]), ..PutOptions::default() };
                    store.put_with(id, &[64], &wave(3, 64), &options).expect("put");
                    if i % 3 == 0 {
                        match store.delete(((i * 17 + seed) % 10) as u128, Dependents::Refuse) {
                            Ok(()) | Err(StoreError::NotFound { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
        let store = &store;
        scope.spawn(move || {
            for i in 0..1000_usize {
                match store.get((i % 10) as u128) {
                    Ok(tensor) => assert!(super::distance(&tensor.values, &wave(3, 64)) <= tensor.provenance.bound),
                    Err(StoreError::NotFound { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
    });
    let stats = store.stats().expect("counted");
    assert_eq!(stats.tensors, store.len());
    let live: u64 = stats.tiers.iter().map(|tier| tier.bytes).sum();
    assert_eq!(stats.live_bytes, live, "every record was counted in and out once");
}

#[test]
fn large_tensors_are_encoded_the_same_on_any_number_of_threads() {
    let values = wave(5, 300_000);
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let folder = tempfile::tempdir().expect("a folder");
        pool.install(|| {
            let store = TensorStore::open(folder.path(), StoreConfig::default()).expect("opens");
            let cost = store.put("x", &[300, 1000], &values).expect("put");
            let tensor = store.get("x").expect("there");
            assert!(super::distance(&values, &tensor.values) <= cost.measured);
            (cost, tensor)
        })
    };
    assert_eq!(bytes(1), bytes(4));
}

#[test]
fn calls_from_a_thread_pool_do_not_deadlock() {
    use bitgrain_store::reconstruct::{DeltaValues, Reconstruction};
    use rayon::prelude::*;

    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    // Large enough that the store parallelizes the work in the calling thread pool.
    let values = wave(1, 270_000);
    store.put("base", &[270_000], &values).expect("put");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("a pool");
    pool.install(|| {
        (0..12_usize).into_par_iter().for_each(|i| {
            let delta = DeltaValues::Wanted(values.iter().map(|v| v + i as f32).collect());
            let policy = Reconstruction::Delta { base: "base".into(), values: delta };
            match i % 6 {
                0 => store.put_absent(i as u128, &[270_000], &policy).expect("put"),
                1 => _ = store.put("same", &[270_000], &values).expect("put"),
                2 => _ = store.compact(bitgrain_store::CompactOptions { garbage: 0.0, all: true }).expect("compacts"),
                3 => _ = store.verify().expect("reads"),
                4 => _ = store.tick(store.now()).expect("ticks"),
                _ => {
                    store.append("frames", &[270_000], &values, i as u64).expect("appended");
                    store.frames("frames", 0..1).expect("readable");
                }
            }
        });
    });
    let tensor = store.get(6_u128).expect("reconstructed");
    assert!((tensor.values[0] - values[0] - 6.0).abs() <= tensor.provenance.bound);
}
