//! Batches are atomic.

use std::fs::{self, OpenOptions};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bitgrain_store::{Dependents, PutOptions, StoreConfig, StoreError, SyncMode, TensorStore, Tier};

use super::{open, wave};

#[test]
fn a_batch_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("kept", &[4], &[1.0; 4]).expect("put");
    let mut batch = store.batch();
    batch.put("new", &[4], &[2.0; 4]).expect("encoded");
    assert!(matches!(batch.put("bad", &[4], &[f32::NAN; 4]), Err(StoreError::NonFinite { index: 0 })));
    batch.delete("kept");
    batch.delete("not there");
    assert_eq!(batch.len(), 3);
    assert!(matches!(batch.commit(), Err(StoreError::NotFound { .. })));
    assert!(store.contains("kept") && !store.contains("new"));
    assert!(store.batch().is_empty());
    store.batch().commit().expect("nothing to do");
}

#[test]
fn the_last_change_of_an_id_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("a", &[1], &[1.0]).expect("put");
    let mut batch = store.batch();
    batch.delete("a");
    batch.put("a", &[2], &[3.0, 4.0]).expect("encoded");
    batch.put("b", &[1], &[1.0]).expect("encoded");
    batch.put("b", &[3], &[1.0; 3]).expect("encoded");
    batch.commit().expect("commits");
    assert_eq!(store.get("a").expect("there").shape, [2]);
    assert_eq!(store.get("b").expect("there").shape, [3]);
}

#[test]
fn changes_outlive_their_batch_and_can_be_extended() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let mut batch = store.batch();
    batch.put("a", &[1], &[1.0]).expect("encoded");
    batch.append("b", &[1], &[2.0], 7);
    let changes = batch.into_changes();
    let mut batch = store.batch_of(changes);
    batch.put("a", &[2], &[3.0, 4.0]).expect("encoded");
    assert_eq!(batch.len(), 2);
    let changes = batch.into_changes();
    drop(store.batch());
    assert!(store.is_empty());
    store.batch_of(changes).commit().expect("commits");
    assert_eq!((store.shape("a").expect("there"), store.frame_count("b").expect("there")), (vec![2], 1));
}

#[test]
fn a_batch_truncated_at_any_byte_has_no_effect() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = || StoreConfig { sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), config()).expect("opens");
    store.put("old", &[8], &wave(1, 8)).expect("put");
    let segment = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.to_string_lossy().contains("segment"))
        .expect("a segment");
    let before = fs::metadata(&segment).expect("there").len();
    let mut batch = store.batch();
    for i in 0..4 {
        batch.put(i as u128, &[8], &wave(i, 8)).expect("encoded");
    }
    batch.delete("old");
    batch.commit().expect("commits");
    let after = fs::metadata(&segment).expect("there").len();
    let bytes = fs::read(&segment).expect("there");
    let manifest = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.to_string_lossy().contains("manifest"))
        .expect("a manifest");
    for cut in before..=after {
        let copy = tempfile::tempdir().expect("a folder");
        let path = copy.path().join(segment.file_name().expect("a name"));
        fs::write(&path, &bytes).expect("written");
        fs::copy(&manifest, copy.path().join(manifest.file_name().expect("a name"))).expect("copied");
        OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(cut)).expect("cut");
        let store = TensorStore::open(copy.path(), config()).expect("opens");
        let there: Vec<bool> = (0..4_u128).map(|i| store.contains(i)).collect();
        assert_eq!((store.contains("old"), there), (cut < after, vec![cut == after; 4]), "cut at {cut} of {after}");
        // The next record is not mistaken for the end of the batch.
        store.put("next", &[1], &[1.0]).expect("put");
        drop(store);
        let store = TensorStore::open(copy.path(), config()).expect("opens");
        assert_eq!(store.len(), if cut == after { 5 } else { 2 });
    }
}

#[test]
fn readers_see_all_of_a_batch_or_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = StoreConfig { sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), config).expect("opens");
    let write = |round: usize| {
        let mut batch = store.batch();
        for i in 0..8_u128 {
            batch.put(i, &[1], &[round as f32]).expect("encoded");
        }
        batch.commit().expect("commits");
    };
    write(1);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _over = super::Over(&done);
            (2..200).for_each(write);
        });
        scope.spawn(|| {
            while !done.load(Relaxed) {
                // Of two successive reads, the second never returns the older value.
                let values: Vec<f32> = (0..8_u128).map(|i| store.get(i).expect("there").values[0]).collect();
                assert!(values.is_sorted(), "{values:?}");
                let snapshot = store.snapshot();
                let values: Vec<f32> = (0..8_u128).map(|i| snapshot.get(i).expect("there").values[0]).collect();
                assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
            }
        });
    });
    store.delete(3_u128, Dependents::Refuse).expect("deleted");
    assert_eq!(store.len(), 7);
}

#[test]
fn frames_after_a_deletion_in_a_batch_start_a_new_tensor() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for t in 0..3 {
        store.append("x", &[8], &wave(t, 8), t as u64).expect("appended");
    }
    let mut batch = store.batch();
    batch.delete("x");
    batch.append("x", &[4], &wave(7, 4), 7);
    batch.append("x", &[4], &wave(8, 4), 8);
    batch.commit().expect("commits");
    store.append("x", &[4], &wave(9, 4), 9).expect("appended");
    store.close().expect("closes");
    let frames = open(folder.path()).frames("x", 0..3).expect("what was acknowledged is there");
    for (frame, time) in frames.iter().zip(7_u32..) {
        assert_eq!(frame.time, u64::from(time));
        assert!(super::distance(&frame.values, &wave(time as usize, 4)) <= frame.provenance.bound);
    }
}

#[test]
fn frames_after_a_plain_tensor_in_a_batch_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.append("x", &[8], &wave(0, 8), 0).expect("appended");
    let mut batch = store.batch();
    batch.put("x", &[8], &wave(1, 8)).expect("encoded");
    batch.append("x", &[8], &wave(2, 8), 2);
    assert!(matches!(batch.commit(), Err(StoreError::NotTemporal { .. })), "the frame would be lost");
    assert_eq!(store.frame_count("x").expect("as before"), 1);
}

#[test]
fn a_limit_set_while_a_batch_is_pending_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[100], &wave(1, 100)).expect("put");
    let cold = PutOptions { tier: Some(Tier::Cold), ..PutOptions::default() };
    let mut batch = store.batch();
    let cost = batch.put_with("x", &[100], &wave(1, 100), &cold).expect("no limit yet");
    store.set_max_error("x", Some(cost.bound / 2.0)).expect("8 bits are within");
    assert!(matches!(batch.commit(), Err(StoreError::BoundExceeded { tier: Tier::Cold, .. })));
    assert_eq!(store.meta("x").expect("there").provenance.tier, Tier::Hot);
}
