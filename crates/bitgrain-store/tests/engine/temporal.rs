//! Frames.

use std::ops::Range;

use bitgrain_store::policy::{AbsentRule, PolicyConfig};
use bitgrain_store::temporal::{FrameConfig, FrameRole};
use bitgrain_store::{CompactOptions, Dependents, StoreConfig, StoreError, TensorStore, Tier};

use super::{distance, open, small_segments, wave, with_clock};

/// Slowly changing values far from zero.
fn weather(t: usize) -> Vec<f32> {
    (0..500).map(|i| 280.0 + (i as f32 * 0.05 + t as f32 * 0.01).sin() * 5.0).collect()
}

#[test]
fn frames_are_within_their_bounds_after_reopening() {
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
fn frames_are_deleted_with_their_tensor_and_do_not_reappear() {
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
fn impossible_frames_are_rejected() {
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
fn a_limit_below_the_error_of_frames_is_rejected() {
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
    assert_eq!(store.stats().expect("readable").tiers[2].worst_bound, bound);
}

/// Returns the tiers of all frames, without counting as a use.
fn tiers(store: &TensorStore, id: &str) -> Vec<Tier> {
    let count = store.frame_count(id).expect("temporal");
    let frames = store.snapshot().frames(id, 0..count).expect("readable");
    frames.iter().map(|frame| frame.provenance.tier).collect()
}

/// Checks that every frame is within its bound of what was appended.
fn check_frames(store: &TensorStore, id: &str, originals: &[Vec<f32>]) {
    let frames = store.snapshot().frames(id, 0..originals.len() as u64).expect("readable");
    for (frame, original) in frames.iter().zip(originals) {
        let (error, bound) = (distance(&frame.values, original), frame.provenance.bound);
        assert!(error <= bound && bound.is_finite(), "frame {}: {error} above {bound}", frame.index);
        assert_eq!(frame.time, 7 * frame.index, "frame {}", frame.index);
    }
}

const HOUR: u64 = 3_600_000;

#[test]
fn frames_step_down_in_runs_and_survive_compaction_and_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    // Two runs of frames, and segments that a few frames fill.
    let frames = FrameConfig { run_frames: 10, ..config.frames };
    let config = StoreConfig { segment_bytes: 4096, frames, policy: PolicyConfig::adr019(), ..config };
    let mut store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    let originals: Vec<Vec<f32>> = (0..35).map(|i| wave(i, 200)).collect();
    let append = |store: &TensorStore, range: Range<usize>| {
        for i in range {
            store.append("x", &[200], &originals[i], 7 * i as u64).expect("appended");
        }
    };
    append(&store, 0..15);
    let before = store.meta("x").expect("there").stored_bytes;
    let mut now = HOUR;
    let mut idle = |store: &TensorStore, hours: u64| {
        for _ in 0..hours {
            now += HOUR;
            clock.set(now);
            let planned = store.plan(now).expect("plans");
            assert_eq!(store.tick(now).expect("ticks").moves, planned.moves);
        }
    };
    idle(&store, 4);
    assert_eq!(tiers(&store, "x"), [Tier::Warm; 15]);
    check_frames(&store, "x", &originals[..15]);
    // New frames are hot; the old run steps down further, while the new one is in use.
    append(&store, 15..25);
    for hour in 0..6 {
        idle(&store, 1);
        store.get("x").expect("the last frame");
        if hour == 3 {
            append(&store, 25..26);
        }
    }
    let found = tiers(&store, "x");
    assert_eq!(found[..10], [Tier::Cold; 10], "{found:?}");
    assert!(found[20..].iter().all(|tier| *tier <= Tier::Warm), "{found:?}");
    check_frames(&store, "x", &originals[..26]);
    for all in [false, true] {
        store.compact(CompactOptions { all, ..CompactOptions::default() }).expect("compacts");
        assert_eq!(tiers(&store, "x"), found);
        store.close().expect("closes");
        store = TensorStore::open(folder.path(), config.clone()).expect("opens");
        assert!(store.recovery().damages.is_empty(), "{:?}", store.recovery());
        assert_eq!(tiers(&store, "x"), found, "all: {all}");
        check_frames(&store, "x", &originals[..26]);
    }
    // The last run is re-encoded as well, and appending continues after it.
    idle(&store, 40);
    assert_eq!(tiers(&store, "x"), [Tier::Cold; 26], "frames are never evicted");
    assert!(store.meta("x").expect("there").stored_bytes < before * 26 / 15 * 2 / 3);
    append(&store, 26..35);
    check_frames(&store, "x", &originals);
    assert_eq!(tiers(&store, "x")[26..], [Tier::Hot; 9]);
    store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts");
    drop(store);
    let store = TensorStore::open(folder.path(), config).expect("opens");
    check_frames(&store, "x", &originals);
    assert!(store.verify().expect("reads").is_clean());
}

#[test]
fn old_frames_that_are_read_keep_their_bits_and_pins_and_limits_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let frames = FrameConfig { run_frames: 64, ..config.frames };
    let policy = PolicyConfig { absent: AbsentRule::Any, ..PolicyConfig::adr019() };
    let store = TensorStore::open(folder.path(), StoreConfig { frames, policy, ..config }).expect("opens");
    let originals: Vec<Vec<f32>> = (0..192).map(|i| wave(i, 50)).collect();
    for id in ["read", "pinned", "limited", "exact"] {
        for (i, values) in originals.iter().enumerate() {
            store.append(id, &[50], values, 7 * i as u64).expect("appended");
            if id == "exact" && i == 0 {
                store.pin(id, Some(Tier::Lossless)).expect("pinned");
            }
        }
    }
    store.pin("pinned", Some(Tier::Warm)).expect("pinned");
    let bound = store.meta("limited").expect("there").provenance.bound;
    store.set_max_error("limited", Some(bound * 4.0)).expect("above");
    for tick in 0..6 * 40 {
        let now = HOUR + tick * HOUR / 6;
        clock.set(now);
        // Frames of the first run, in every period.
        store.frames("read", 3..5).expect("readable");
        store.tick(now).expect("ticks");
    }
    let read = tiers(&store, "read");
    assert!(read[..64].iter().all(|tier| *tier <= Tier::Hot), "{read:?}");
    assert_eq!(read[64..128], [Tier::Cold; 64], "{read:?}");
    assert_eq!(tiers(&store, "pinned"), [Tier::Warm; 192]);
    assert!(tiers(&store, "exact")[1..].iter().all(|tier| *tier == Tier::Lossless));
    let limited = store.meta("limited").expect("there").provenance;
    assert!(limited.bound <= bound * 4.0 && limited.tier > Tier::Hot, "{limited:?}");
    for id in ["read", "pinned", "limited", "exact"] {
        check_frames(&store, id, &originals);
    }
}

#[test]
fn frames_appended_after_a_deletion_do_not_mix_with_re_encoded_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let frames = FrameConfig { run_frames: 4, ..config.frames };
    let config = StoreConfig { segment_bytes: 2048, frames, ..config };
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    let originals = |seed: usize| (0..12).map(|i| wave(seed + i, 60)).collect::<Vec<_>>();
    let mut now = HOUR;
    for seed in [0, 100, 200] {
        if seed > 0 {
            store.delete("x", Dependents::Refuse).expect("deleted");
        }
        for (i, values) in originals(seed).iter().enumerate() {
            store.append("x", &[60], values, 7 * i as u64).expect("appended");
        }
        for _ in 0..12 {
            now += HOUR;
            clock.set(now);
            store.tick(now).expect("ticks");
        }
        store.compact(CompactOptions::default()).expect("compacts");
        check_frames(&store, "x", &originals(seed));
    }
    assert_eq!(tiers(&store, "x"), [Tier::B6; 12]);
    let copy = tempfile::tempdir().expect("a folder");
    let other = TensorStore::open(copy.path(), StoreConfig::default()).expect("opens");
    assert_eq!(store.copy_to("x", &other).expect("copied"), 12);
    check_frames(&other, "x", &originals(200));
    drop((store, other));
    for path in [folder.path(), copy.path()] {
        let store = TensorStore::open(path, config.clone()).expect("opens");
        check_frames(&store, "x", &originals(200));
        assert_eq!(tiers(&store, "x"), [Tier::B6; 12]);
    }
}
