//! Temporal tensors in the tier policy: reads of old frames, wanted tiers, the cap, and frames without data.

use std::ops::Range;
use std::path::Path;

use bitgrain_store::policy::{PolicyConfig, Reason};
use bitgrain_store::reconstruct::{DeltaValues, Factor, Reconstruction};
use bitgrain_store::temporal::FrameConfig;
use bitgrain_store::{CompactOptions, Dependents, SimulatedClock, StoreConfig, StoreError, TensorStore, Tier};

use super::{distance, wave, with_clock};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns settings with runs of 64 frames.
fn in_runs(config: StoreConfig, policy: PolicyConfig) -> StoreConfig {
    let frames = FrameConfig { run_frames: 64, ..config.frames };
    StoreConfig { policy, frames, ..config }
}

/// Returns frames that change slowly, so that they share scales.
fn frame(i: u64, scale: f32) -> Vec<f32> {
    wave(3, 100).iter().map(|value| value * (1.0 - 0.0001 * i as f32) * scale).collect()
}

fn append(store: &TensorStore, id: &str, scale: f32, frames: Range<u64>) {
    for i in frames {
        store.append(id, &[100], &frame(i, scale), i).expect("appended");
    }
}

fn tiers(store: &TensorStore, id: &str) -> Vec<Tier> {
    let count = store.frame_count(id).expect("temporal");
    let frames = store.snapshot().frames(id, 0..count).expect("readable");
    frames.iter().map(|frame| frame.provenance.tier).collect()
}

fn check(store: &TensorStore, id: &str, scale: f32) {
    let frames = store.snapshot().frames(id, 0..store.frame_count(id).expect("temporal")).expect("readable");
    for frame in frames {
        let error = distance(&self::frame(frame.index, scale), &frame.values);
        assert!(error <= frame.provenance.bound, "{id}, frame {}: {error}, {:?}", frame.index, frame.provenance);
    }
}

fn idle(store: &TensorStore, clock: &SimulatedClock, from: u64, until: u64) {
    for now in (from / HOUR..=until / HOUR).map(|hour| hour * HOUR) {
        clock.set(now);
        store.tick(now).expect("ticks");
    }
}

fn reopen(store: TensorStore, path: &Path, config: &StoreConfig) -> TensorStore {
    store.close().expect("closes");
    TensorStore::open(path, config.clone()).expect("opens")
}

#[test]
fn reads_of_old_frames_survive_closing_and_compaction() {
    for compact in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, config) = with_clock(DAY);
        let config = in_runs(config, PolicyConfig::adr019());
        let mut store = TensorStore::open(folder.path(), config.clone()).expect("opens");
        append(&store, "x", 1.0, 0..200);
        // The first run is read in every period; each day in another process.
        let mut now = DAY;
        for day in 0..2 {
            for _ in 0..6 * 24 {
                now += 10 * MINUTE;
                clock.set(now);
                store.frames("x", 0..64).expect("readable");
            }
            store = reopen(store, folder.path(), &config);
            if compact {
                store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts");
                store = reopen(store, folder.path(), &config);
            }
            let moved: Vec<_> = store.tick(now).expect("ticks").moves.into_iter().filter_map(|m| m.frames).collect();
            assert_eq!(
                moved,
                [64..128, 128..192],
                "day {day}: the first run is in use, the last one follows the tensor"
            );
        }
        assert_eq!(tiers(&store, "x")[0], Tier::Hot);
        assert_eq!(tiers(&store, "x")[64], Tier::Cold);
        check(&store, "x", 1.0);
    }
}

#[test]
fn reads_of_frames_are_forgotten_with_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(DAY);
    let config = in_runs(config, PolicyConfig::adr019());
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    append(&store, "x", 1.0, 0..130);
    for minutes in 1..100 {
        clock.set(DAY + minutes * 10 * MINUTE);
        store.record_read("x", Some(0..64)).expect("there");
    }
    assert!(matches!(store.record_read("x", Some(0..131)), Err(StoreError::FramesOutOfRange { .. })));
    assert!(matches!(store.record_read("none", None), Err(StoreError::NotFound { .. })));
    store.put("y", &[1], &[1.0]).expect("put");
    assert!(matches!(store.record_read("y", Some(0..1)), Err(StoreError::NotTemporal { .. })));
    let store = reopen(store, folder.path(), &config);
    store.delete("x", Dependents::Refuse).expect("deleted");
    append(&store, "x", 1.0, 0..130);
    let store = reopen(store, folder.path(), &config);
    let now = store.now() + 3 * HOUR;
    clock.set(now);
    let moved: Vec<_> = store.tick(now).expect("ticks").moves.into_iter().filter_map(|m| m.frames).collect();
    assert_eq!(moved, [0..64, 64..128, 128..130], "new frames were never read");
}

#[test]
fn a_series_in_use_gets_its_bits_back_with_the_next_frame_even_after_closing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(HOUR);
    let policy = PolicyConfig { first_tier: Tier::WarmAggressive, ..PolicyConfig::adr019() };
    let config = in_runs(config, policy);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    append(&store, "x", 1.0, 0..3);
    for hours in 2..6 {
        clock.set(hours * HOUR);
        store.get("x").expect("there");
        store.tick(hours * HOUR).expect("ticks");
    }
    let wanted = |store: &TensorStore| store.meta("x").expect("there").wanted;
    assert_eq!((wanted(&store), tiers(&store, "x")), (Tier::Warm, vec![Tier::WarmAggressive; 3]));
    let store = reopen(store, folder.path(), &config);
    store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts");
    let store = reopen(store, folder.path(), &config);
    assert_eq!(wanted(&store), Tier::Warm);
    append(&store, "x", 1.0, 3..4);
    assert_eq!(tiers(&store, "x")[3], Tier::Warm);
    check(&store, "x", 1.0);
}

#[test]
fn the_cap_counts_the_bytes_that_the_statistics_show() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(DAY);
    let config = in_runs(config, PolicyConfig::adr019());
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    append(&store, "x", 1.0, 0..100);
    store.put("y", &[1000], &wave(1, 1000)).expect("put");
    store.pin("y", Some(Tier::Hot)).expect("pinned");
    clock.set(DAY + 3 * HOUR);
    store.tick(DAY + 3 * HOUR).expect("ticks");
    append(&store, "x", 1.0, 100..101);
    let stats = store.stats().expect("readable");
    let warm = stats.tiers[3].bytes;
    assert_eq!(stats.tiers[3].tier, Tier::Warm);
    let total: u64 = stats.tiers.iter().map(|tier| tier.bytes).sum();
    let stored: u64 = store.scan(None).map(|meta| meta.expect("readable").stored_bytes).sum();
    assert_eq!(total, stored, "every record counts once");
    assert_eq!(store.plan(DAY + 3 * HOUR + 1).expect("plans").warm_bytes_before, warm);
    let now = DAY + 3 * HOUR + 1000;
    for (cap, moves) in [(warm, 0), (warm - 1, 1)] {
        let policy = PolicyConfig { warm_byte_cap: cap, ..PolicyConfig::adr019() };
        let reader = TensorStore::open_read_only_with(folder.path(), in_runs(config.clone(), policy)).expect("opens");
        let plan = reader.plan(now).expect("plans");
        let capped = plan.moves.iter().filter(|m| m.reason == Reason::WarmCap).count();
        assert_eq!(capped, moves, "{cap} of {warm}: {plan:?}");
    }
}

fn half() -> Reconstruction {
    Reconstruction::Factor { source: "full".into(), factor: Factor { scale: 0.5, ..Factor::default() } }
}

#[test]
fn frames_that_can_be_reconstructed_are_evicted_and_stay_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(DAY);
    let config = in_runs(config, PolicyConfig::careful());
    let mut store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    append(&store, "full", 1.0, 0..130);
    append(&store, "half", 0.5, 0..200);
    store.attach("half", Some(&half())).expect("attached");
    let before = store.stats().expect("readable").live_bytes;
    idle(&store, &clock, DAY + HOUR, 4 * DAY);
    // The base has 130 frames: the runs up to there lose their data, the others and the base itself keep it.
    let expected =
        |range: Range<usize>| -> Vec<Tier> { range.map(|i| if i < 128 { Tier::Absent } else { Tier::B6 }).collect() };
    assert_eq!(tiers(&store, "half"), expected(0..200));
    assert_eq!(tiers(&store, "full"), vec![Tier::B6; 130]);
    assert_eq!(store.meta("half").expect("there").provenance.tier, Tier::Absent);
    let absent = store.stats().expect("readable").tiers[8];
    assert!(absent.bytes > 0 && absent.worst_bound == f32::INFINITY, "{absent:?}");
    for round in 0..3 {
        check(&store, "half", 0.5);
        assert_eq!(store.snapshot().frames("half", 0..1).expect("there")[0].provenance.depth, 1);
        match round {
            0 => store = reopen(store, folder.path(), &config),
            _ => drop(store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts")),
        }
    }
    assert!(store.stats().expect("readable").live_bytes < before);
    // Appending continues, and the last frame can be read as before.
    append(&store, "half", 0.5, 200..201);
    assert_eq!(store.get("half").expect("the last frame").provenance.tier, Tier::Hot);
    // Without the reconstruction, the frames would be lost.
    assert!(matches!(store.attach("half", None), Err(StoreError::TierZeroNoPolicy { .. })));
    assert!(matches!(store.set_max_error("half", Some(1.0)), Err(StoreError::BoundExceeded { .. })));
    assert!(matches!(store.delete("full", Dependents::Refuse), Err(StoreError::HasDependents { .. })));
    let copy = tempfile::tempdir().expect("a folder");
    let other = TensorStore::open(copy.path(), config.clone()).expect("opens");
    assert!(matches!(store.copy_to("half", &other), Err(StoreError::NotFound { .. })), "its base is not there");
    store.copy_to("full", &other).expect("copied");
    store.copy_to("half", &other).expect("copied");
    check(&other, "half", 0.5);
    store.delete("full", Dependents::Materialize).expect("deleted");
    for _ in 0..2 {
        assert!(!tiers(&store, "half").contains(&Tier::Absent));
        check(&store, "half", 0.5);
        store = reopen(store, folder.path(), &config);
    }
    assert!(store.verify().expect("readable").damages.is_empty());
}

#[test]
fn pins_limits_and_reads_keep_the_data_of_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(DAY);
    let store = TensorStore::open(folder.path(), in_runs(config, PolicyConfig::careful())).expect("opens");
    append(&store, "full", 1.0, 0..130);
    for id in ["pinned", "limited", "read", "plain"] {
        append(&store, id, 0.5, 0..130);
        if id != "plain" {
            store.attach(id, Some(&half())).expect("attached");
        }
    }
    store.pin("pinned", Some(Tier::B6)).expect("pinned");
    store.set_max_error("limited", Some(5.0)).expect("within");
    for now in (25..=96).map(|hour| hour * HOUR) {
        clock.set(now);
        store.record_read("read", Some(0..64)).expect("there");
        store.tick(now).expect("ticks");
    }
    for id in ["pinned", "limited", "plain"] {
        assert!(!tiers(&store, id).contains(&Tier::Absent), "{id}");
    }
    let read = tiers(&store, "read");
    assert!(read[0] < Tier::Absent && read[64] == Tier::Absent, "{read:?}");
    check(&store, "read", 0.5);
}

#[test]
fn a_constant_delta_and_a_base_without_frames_reconstruct_every_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, config) = with_clock(DAY);
    let store = TensorStore::open(folder.path(), config.clone()).expect("opens");
    store.put("mean", &[4], &[1.0, 2.0, 3.0, 4.0]).expect("put");
    for i in 0..3 {
        store.append("x", &[4], &[1.5, 2.5, 3.5, 4.5], i).expect("appended");
    }
    let delta = |values| Reconstruction::Delta { base: "mean".into(), values };
    let wanted = store.attach("x", Some(&delta(DeltaValues::Wanted(vec![1.5; 4]))));
    assert!(matches!(wanted, Err(StoreError::FramesNeedDelta { .. })), "{wanted:?}");
    let from_frames = Reconstruction::Factor { source: "x".into(), factor: Factor::default() };
    assert!(matches!(store.attach("mean", Some(&from_frames)), Err(StoreError::Temporal { .. })));
    store.attach("x", Some(&delta(DeltaValues::Delta(vec![0.5; 4])))).expect("attached");
    assert!(matches!(store.attach("mean", Some(&from_frames)), Err(StoreError::Temporal { .. })));
    idle(&store, &clock, DAY + HOUR, 4 * DAY);
    assert_eq!(tiers(&store, "x"), [Tier::Absent; 3]);
    store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts");
    let store = reopen(store, folder.path(), &config);
    let absent = store.stats().expect("readable").tiers[8];
    assert_eq!((absent.tier, absent.tensors), (Tier::Absent, 1));
    let frame = store.get("x").expect("reconstructed");
    assert!(distance(&frame.values, &[1.5, 2.5, 3.5, 4.5]) <= frame.provenance.bound && frame.provenance.bound < 0.2);
    assert_eq!(frame.provenance.depth, 1);
}
