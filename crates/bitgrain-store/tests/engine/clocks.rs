//! Clocks that are wrong and later corrected.

use std::sync::Arc;

use bitgrain_store::{Clock, SimulatedClock, StoreConfig, StoreError, SyncMode, SystemClock, TensorStore};

use super::wave;

const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
const START: u64 = 1_700_000_000_000;

fn simulated(folder: &std::path::Path, now: u64) -> (Arc<SimulatedClock>, TensorStore) {
    let clock = Arc::new(SimulatedClock::new(now));
    let config = StoreConfig { clock: clock.clone(), sync: SyncMode::OnSeal, ..StoreConfig::default() };
    (clock, TensorStore::open(folder, config).expect("opens"))
}

/// Ticks every hour, with an advancing clock, until `id` has fewer bits; returns the number of hours.
fn hours_until_it_moves(store: &TensorStore, clock: &SimulatedClock, id: &str) -> Option<u64> {
    let from = clock.now();
    (1..=14 * 24).find(|hour| {
        clock.set(from + hour * HOUR);
        let moves = store.tick(from + hour * HOUR).expect("ticks").moves;
        moves.iter().any(|step| step.id == id.into())
    })
}

#[test]
fn times_more_than_a_day_from_the_clock_are_rejected_unless_simulated() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = super::open(folder.path());
    store.put("x", &[100], &wave(1, 100)).expect("put");
    let now = SystemClock.now();
    for wrong in [now + DAY + HOUR, now * 1000, now / 1000, 0, u64::MAX] {
        let refused = store.tick(wrong);
        assert!(matches!(refused, Err(StoreError::TimeOutOfRange { now, .. }) if now == wrong), "{wrong}: {refused:?}");
    }
    store.tick(now + DAY - HOUR).expect("a little ahead");
    store.tick(now - DAY + HOUR).expect("a little behind");
    store.plan(now + 30 * DAY).expect("nothing is done");
    assert!(matches!(store.plan(now / 1000), Err(StoreError::TimeOutOfRange { .. })));
    drop(store);
    let (_, store) = simulated(folder.path(), now);
    store.tick(now + 365 * DAY).expect("simulated");
}

#[test]
fn a_tick_far_ahead_in_a_simulation_leaves_the_store_in_the_present() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, store) = simulated(folder.path(), START);
    store.put("old", &[100], &wave(1, 100)).expect("put");
    store.get("old").expect("there");
    store.tick(START + 8000 * 365 * DAY).expect("simulated");
    store.close().expect("closes");
    let (clock, store) = simulated(folder.path(), START + HOUR);
    store.put("new", &[100], &wave(2, 100)).expect("put");
    let about = store.meta("new").expect("there");
    assert_eq!((about.created, about.accessed), (START + HOUR, START + HOUR));
    assert!(hours_until_it_moves(&store, &clock, "new").is_some_and(|hours| hours < 24));
}

#[test]
fn tensors_dated_in_the_future_step_down_once_the_clock_is_right() {
    for reopened in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut clock, mut store) = simulated(folder.path(), START);
        store.put("before", &[100], &wave(1, 100)).expect("put");
        clock.set(START + 365 * DAY);
        store.put("ahead", &[100], &wave(2, 100)).expect("put");
        store.get("before").expect("there"); // its use is in the future, its record is not
        clock.set(START + HOUR);
        if reopened {
            store.close().expect("closes");
            (clock, store) = simulated(folder.path(), START + HOUR);
        }
        store.put("after", &[100], &wave(3, 100)).expect("put");
        assert_eq!(store.meta("after").expect("there").created, START + HOUR, "the store is in the present");
        let usual = hours_until_it_moves(&store, &clock, "after").expect("moves");
        for id in ["before", "ahead"] {
            let from = clock.now();
            let moved = store.meta(id).expect("there").provenance.bits < 8;
            assert!(moved || hours_until_it_moves(&store, &clock, id).is_some(), "{id}, reopened: {reopened}");
            assert!(clock.now() - from <= usual * HOUR, "{id} takes no longer than others, reopened: {reopened}");
        }
    }
}

#[test]
fn a_date_in_the_future_is_corrected_even_if_every_tick_reopens_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, store) = simulated(folder.path(), START + 365 * DAY);
    store.put("ahead", &[100], &wave(2, 100)).expect("put");
    store.close().expect("closes");
    let moved = (1..=72).find(|hour| {
        let (_, store) = simulated(folder.path(), START + hour * HOUR);
        let moves = store.tick(START + hour * HOUR).expect("ticks").moves;
        store.close().expect("closes");
        !moves.is_empty()
    });
    assert!(moved.is_some());
}

#[test]
fn the_last_write_wins_even_if_the_clock_went_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, store) = simulated(folder.path(), START);
    for (step, time) in [START, START + 99 * DAY, START - 99 * DAY, 0, u64::MAX, START].into_iter().enumerate() {
        clock.set(time);
        store.put("x", &[50], &wave(step, 50)).expect("put");
        store.append("frames", &[3], &[step as f32; 3], step as u64).expect("appended");
        store.tick(time).expect("ticks");
    }
    let (x, frames) = (store.get("x").expect("there"), store.frames("frames", 0..6).expect("there"));
    for _ in 0..2 {
        store.compact(bitgrain_store::CompactOptions { all: true, garbage: 0.0 }).expect("compacts");
        let copy = tempfile::tempdir().expect("a folder");
        store.backup(copy.path().join("s")).expect("copied");
        let (_, again) = simulated(&copy.path().join("s"), START);
        assert!(again.recovery().is_clean());
        assert_eq!(again.get("x").expect("there"), x);
        assert_eq!(again.frames("frames", 0..6).expect("there"), frames);
    }
}
