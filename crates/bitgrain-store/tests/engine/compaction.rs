//! Compaction keeps live records and drops all others.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bitgrain_store::{CompactOptions, Dependents, StoredTensor, TensorStore};

use super::{small_segments, wave};

const ALL: CompactOptions = CompactOptions { garbage: 0.25, all: true };

fn everything(store: &TensorStore) -> Vec<(String, StoredTensor)> {
    let metas = store.scan(None).map(|meta| meta.expect("readable"));
    metas.map(|meta| (meta.id.to_string(), store.get(&meta.id).expect("readable"))).collect()
}

#[test]
fn compaction_keeps_every_tensor_and_frees_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    for i in 0..400 {
        store.put((i % 80) as u128, &[500], &wave(i, 500)).expect("put");
    }
    for i in 0..40_u128 {
        store.delete(i, Dependents::Refuse).expect("deleted");
    }
    for t in 0..30 {
        store.append("frames", &[64], &wave(t, 64), t as u64).expect("appended");
    }
    store.pin("frames", Some(bitgrain_store::Tier::Hot)).expect("pinned"); // the record of the tensor is behind its frames
    let frames = store.frames("frames", 0..30).expect("readable");
    let before = everything(&store);
    let stats = store.stats().expect("counted");
    assert!(stats.garbage_bytes > 5 * stats.live_bytes, "{stats:?}");
    let report = store.compact(ALL).expect("compacts");
    assert!(report.bytes_written * 5 < report.bytes_removed, "{report:?}");
    assert_eq!(report.records, 40 + 31);
    assert_eq!(before, everything(&store));
    let stats = store.stats().expect("counted");
    assert!(stats.garbage_bytes < stats.live_bytes / 50, "{stats:?}");
    assert!(store.verify().expect("reads").is_clean());
    for _ in 0..2 {
        store.compact(ALL).expect("compacts again");
        store.put("later", &[3], &[1.0, 2.0, 3.0]).expect("put");
    }
    store.delete("later", Dependents::Refuse).expect("deleted");
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    assert!(store.recovery().is_clean(), "{:?}", store.recovery());
    assert_eq!(before, everything(&store));
    assert_eq!(frames, store.frames("frames", 0..30).expect("readable"));
    assert!(store.verify().expect("reads").is_clean());
}

#[test]
fn only_worthwhile_segments_are_compacted_and_order_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    let (mut rounds, mut expected) = (0, std::collections::BTreeMap::new());
    // Tensors are added, changed and deleted while some segments are compacted and others are not.
    for i in 0..1500_usize {
        let id = (i * 7919) % 97;
        if i % 11 == 0 && expected.remove(&id).is_some() {
            store.delete(id as u128, Dependents::Refuse).expect("deleted");
        } else {
            store.put(id as u128, &[300], &wave(i, 300)).expect("put");
            expected.insert(id, i);
        }
        if i % 100 == 99 {
            let report = store.compact(CompactOptions { garbage: 0.6, all: false }).expect("compacts");
            rounds += usize::from(report.segments_removed > 0);
        }
    }
    assert!(rounds > 3);
    let check = |store: &TensorStore| {
        assert_eq!(store.len(), expected.len());
        for (id, i) in &expected {
            let tensor = store.get(*id as u128).expect("readable");
            assert!(super::distance(&tensor.values, &wave(*i, 300)) <= tensor.provenance.bound, "tensor {id}");
        }
    };
    check(&store);
    store.close().expect("closes");
    check(&TensorStore::open(folder.path(), small_segments()).expect("opens"));
}

#[test]
fn readers_and_writers_continue_during_compaction() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    for i in 0..50_usize {
        store.put(i as u128, &[200], &wave(i, 200)).expect("put");
    }
    let snapshot = store.snapshot();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = super::Over(&done);
            for i in 0..600_usize {
                store.put((i % 25) as u128, &[200], &wave(i % 25, 200)).expect("put");
                store.put("changing", &[1], &[i as f32]).expect("put");
                let read = store.get("changing").expect("readable").values[0];
                assert!((read - i as f32).abs() < 0.5, "{read} is back after {i}");
            }
        });
        scope.spawn(|| {
            while !done.load(Relaxed) {
                store.compact(ALL).expect("compacts");
            }
        });
        scope.spawn(|| {
            let mut i = 0;
            while !done.load(Relaxed) {
                i = (i + 1) % 50;
                let tensor = store.get(i as u128).expect("readable");
                assert!(super::distance(&tensor.values, &wave(i, 200)) <= tensor.provenance.bound);
            }
        });
    });
    for i in 0..50_usize {
        let tensor = snapshot.get(i as u128).expect("still readable");
        assert!(super::distance(&tensor.values, &wave(i, 200)) <= tensor.provenance.bound);
    }
    assert!(store.verify().expect("reads").is_clean());
}
