//! Frames.

use bitgrain_store::temporal::FrameRole;
use bitgrain_store::{Dependents, StoreError, TensorStore, Tier};

use super::{distance, open, small_segments, wave};

/// Slowly changing values far from zero.
fn weather(t: usize) -> Vec<f32> {
    (0..500).map(|i| 280.0 + (i as f32 * 0.05 + t as f32 * 0.01).sin() * 5.0).collect()
}

#[test]
fn frames_come_back_within_their_bounds_after_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    for t in 0..40 {
        let appended = store.append("weather", &[5, 100], &weather(t), 1000 + t as u64).expect("appended");
        assert_eq!((appended.index, appended.role == FrameRole::Key), (t as u64, t == 0));
    }
    store.close().expect("closes");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    // Continues the run that was read back.
    let next = store.append("weather", &[5, 100], &weather(40), 1040).expect("appended");
    assert!(next.index == 40 && next.role != FrameRole::Key, "{next:?}");
    assert_eq!(store.frame_count("weather").expect("temporal"), 41);
    let frames = store.frames("weather", 0..41).expect("readable");
    for (t, frame) in frames.iter().enumerate() {
        assert_eq!((frame.index, frame.time), (t as u64, 1000 + t as u64));
        assert!(distance(&frame.values, &weather(t)) <= frame.provenance.measured, "frame {t}");
    }
    assert_eq!(store.frames("weather", 17..20).expect("readable"), frames[17..20]);
    assert_eq!(store.get("weather").expect("the last frame").values, frames[40].values);
    assert_eq!(store.get_rows("weather", 1..2).expect("a row").values, frames[40].values[100..200]);
    let meta = store.meta("weather").expect("there");
    assert_eq!((meta.shape, meta.frames), (vec![5, 100], Some(41)));
    assert!(frames.iter().all(|frame| frame.provenance.bound <= meta.provenance.bound));
    let stored = meta.stored_bytes as f64;
    assert!(stored * 5.0 < 41.0 * 2000.0, "{stored} bytes: differences take fewer bits than 8");
}

#[test]
fn frames_go_with_their_tensor_and_do_not_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for t in 0..5 {
        store.append("x", &[10], &wave(t, 10), 0).expect("appended");
    }
    store.delete("x", Dependents::Refuse).expect("deleted");
    assert!(matches!(store.frames("x", 0..1), Err(StoreError::NotFound { .. })));
    store.append("x", &[20], &wave(9, 20), 0).expect("another shape is fine now");
    store.pin("x", Some(Tier::Warm)).expect("pinned");
    store.append("x", &[20], &wave(9, 20), 1).expect("appended");
    store.close().expect("closes");
    let store = open(folder.path());
    assert_eq!(store.frame_count("x").expect("temporal"), 2);
    let frames = store.frames("x", 0..2).expect("readable");
    assert!(frames.iter().all(|frame| distance(&frame.values, &wave(9, 20)) <= frame.provenance.bound));
    assert_eq!(frames[1].provenance.tier, Tier::Warm);
    // After a put as one tensor, it has no frames.
    store.put("x", &[2], &[1.0, 2.0]).expect("put");
    assert!(matches!(store.frames("x", 0..1), Err(StoreError::NotTemporal { .. })));
    assert!(matches!(store.append("x", &[2], &[1.0, 2.0], 0), Err(StoreError::NotTemporal { .. })));
}

#[test]
fn frames_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.append("x", &[3], &[1.0, 2.0, 3.0], 0).expect("appended");
    assert!(matches!(store.append("x", &[2], &[1.0, 2.0], 0), Err(StoreError::FrameShape { expected: 3, got: 2 })));
    assert!(matches!(store.append("x", &[3], &[1.0], 0), Err(StoreError::ShapeMismatch { .. })));
    assert!(matches!(store.append("x", &[3], &[1.0, f32::NAN, 0.0], 0), Err(StoreError::NonFinite { index: 1 })));
    assert!(matches!(store.frames("x", 0..2), Err(StoreError::FramesOutOfRange { frames: 1, .. })));
    assert_eq!(store.frame_count("x").expect("temporal"), 1);
}

#[test]
fn frames_in_a_batch_are_appended_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let mut batch = store.batch();
    for t in 0..3 {
        batch.append("x", &[8], &wave(t, 8), t as u64);
    }
    batch.put("y", &[1], &[1.0]).expect("encoded");
    batch.commit().expect("commits");
    let mut batch = store.batch();
    batch.append("x", &[8], &wave(3, 8), 3);
    batch.append("y", &[1], &[1.0], 0); // not temporal
    assert!(batch.commit().is_err());
    store.append("x", &[8], &wave(3, 8), 3).expect("appended");
    let frames = store.frames("x", 0..4).expect("readable");
    for (t, frame) in frames.iter().enumerate() {
        assert!(distance(&frame.values, &wave(t, 8)) <= frame.provenance.bound && frame.time == t as u64);
    }
}

#[test]
fn a_limit_below_the_error_of_frames_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let cost = store.append("x", &[8], &wave(1, 8), 0).expect("appended").provenance;
    let below = store.set_max_error("x", Some(cost.bound / 2.0));
    assert!(matches!(below, Err(StoreError::BoundExceeded { tier: Tier::Hot, .. })), "{below:?}");
    store.set_max_error("x", Some(cost.bound)).expect("within");
}

#[test]
fn the_errors_of_frames_are_in_the_statistics() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.append("x", &[8], &wave(1, 8), 0).expect("appended");
    let bound = store.meta("x").expect("there").provenance.bound;
    assert!(bound > 0.0);
    assert_eq!(store.stats().expect("readable").tiers[1].worst_bound, bound);
}
