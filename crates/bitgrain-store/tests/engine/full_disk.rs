//! A full disk: the store reports the completed part, and can be compacted.

use std::sync::Arc;

use bitgrain_store::storage::simulated::{Image, SimulatedDisk};
use bitgrain_store::{
    CompactOptions, Dependents, PutOptions, SimulatedClock, StoreConfig, StoreError, SyncMode, TensorStore,
};

use super::wave;

const START: u64 = 1_700_000_000_000;
const HOUR: u64 = 3_600_000;
const ALL: CompactOptions = CompactOptions { all: true, garbage: 0.0 };

fn config(segment_bytes: u64) -> (Arc<SimulatedClock>, StoreConfig) {
    let clock = Arc::new(SimulatedClock::new(START));
    let config = StoreConfig { segment_bytes, clock: clock.clone(), sync: SyncMode::OnSeal, ..StoreConfig::default() };
    (clock, config)
}

/// Fills a store until its disk is full; returns it and the number of tensors.
fn filled(disk: &SimulatedDisk, config: StoreConfig) -> (TensorStore, u32) {
    let store = TensorStore::open_on(Arc::new(disk.clone()), config).expect("opens");
    for i in 0.. {
        match store.put(u128::from(i), &[1000], &wave(i as usize, 1000)) {
            Ok(_) => {}
            Err(error) => {
                assert!(error.is_no_space(), "{error}");
                return (store, i);
            }
        }
    }
    unreachable!("no disk takes so much")
}

#[test]
fn a_store_that_filled_its_disk_can_be_emptied_compacted_and_filled_again() {
    for (capacity, segment_bytes) in
        [(1_000_000, 64 << 20), (1_000_000, 40_000), (300_000, 64 << 20), (4_000_000, 1 << 20)]
    {
        let disk = SimulatedDisk::default();
        disk.limit(Some(capacity));
        let (store, count) = filled(&disk, config(segment_bytes).1);
        assert!(count > 50, "{count} tensors on {capacity} bytes");
        for round in 0..3 {
            for i in (0..count).filter(|i| i % 4 != round) {
                if store.contains(u128::from(i)) {
                    store.delete(u128::from(i), Dependents::Refuse).expect("deleted");
                }
            }
            let before = disk.used();
            store.compact(ALL).expect("compacts");
            assert!(disk.used() < before - capacity / 6, "{before} bytes became {}", disk.used());
            let missing = (0..count).filter(|i| !store.contains(u128::from(*i)));
            let put =
                missing.take_while(|i| store.put(u128::from(*i), &[1000], &wave(*i as usize, 1000)).is_ok()).count();
            assert!(put >= count as usize / 3, "{put} of {count} tensors fit again");
        }
        let kept = store.len();
        store.close().expect("closes");
        let store = TensorStore::open_on(Arc::new(disk.clone()), config(segment_bytes).1).expect("opens");
        assert!(store.recovery().is_clean() && store.verify().expect("reads").is_clean());
        assert_eq!(store.len(), kept);
    }
}

#[test]
fn a_disk_filled_by_others_allows_deletion_compaction_and_closing() {
    let disk = SimulatedDisk::default();
    let store = TensorStore::open_on(Arc::new(disk.clone()), config(20_000).1).expect("opens");
    for i in 0..200_u32 {
        store.put(u128::from(i), &[100], &wave(i as usize, 100)).expect("put");
    }
    disk.limit(Some(disk.used())); // not a byte is left
    let refused = store.put("more", &[100], &wave(1, 100));
    assert!(refused.as_ref().is_err_and(StoreError::is_no_space), "{refused:?}");
    for i in 0..150_u32 {
        store.delete(u128::from(i), Dependents::Refuse).expect("the reserve is for that");
    }
    let report = store.compact(ALL).expect("compacts");
    assert!(report.bytes_removed > report.bytes_written);
    store.put("more", &[100], &wave(1, 100)).expect("there is room again");
    disk.limit(Some(disk.used()));
    for id in 150..160_u128 {
        store.get(id).expect("there");
    }
    store.close().expect("closes");
    disk.limit(None);
    let store = TensorStore::open_on(Arc::new(disk), config(20_000).1).expect("opens");
    assert_eq!((store.len(), store.verify().expect("reads").damages.len()), (51, 0));
}

#[test]
fn a_compaction_without_free_space_keeps_the_reserve_and_copies_nothing() {
    let disk = SimulatedDisk::default();
    let store = TensorStore::open_on(Arc::new(disk.clone()), config(4_000).1).expect("opens");
    for i in 0..100_u32 {
        store.put(u128::from(i), &[100], &wave(i as usize, 100)).expect("put");
    }
    // Not enough space for all moves at once, and no garbage to reclaim.
    disk.limit(Some(disk.used() + 6_000));
    let before = disk.image();
    let refused = store.compact(ALL).expect_err("no room");
    assert!(refused.is_no_space(), "{refused}");
    let segments = |image: &Image| image.files().filter(|(name, _)| name.starts_with("segment-")).count();
    assert!(segments(&disk.image()) <= segments(&before) + 1, "at most the sealed one was followed by another");
    disk.limit(Some(disk.used()));
    for i in 0..60_u32 {
        store.delete(u128::from(i), Dependents::Refuse).expect("the reserve is still there");
    }
    store.compact(ALL).expect("compacts");
    assert_eq!(store.len(), 40);
}

#[test]
fn the_reserve_grows_with_the_store_so_that_everything_can_be_deleted() {
    let disk = SimulatedDisk::default();
    disk.limit(Some(40_000_000));
    let store = TensorStore::open_on(Arc::new(disk.clone()), config(64 << 20).1).expect("opens");
    for i in 0..1_000_u32 {
        store.put(u128::from(i), &[10_000], &wave(i as usize, 10_000)).expect("put");
    }
    disk.limit(Some(disk.used())); // others filled the rest
    for i in 0..1_000_u32 {
        store.delete(u128::from(i), Dependents::Refuse).expect("the reserve is for that");
    }
    store.compact(ALL).expect("compacts");
    assert!(disk.used() < 1_000_000, "{}", disk.used());
}

#[test]
fn closing_without_space_for_an_index_leaves_everything_durable() {
    let disk = SimulatedDisk::default();
    let store = TensorStore::open_on(Arc::new(disk.clone()), config(64 << 20).1).expect("opens");
    for i in 0..5_000_u32 {
        store.put(u128::from(i), &[1], &[1.0]).expect("put");
    }
    disk.limit(Some(disk.used() / 2));
    store.close().expect("all of it is durable");
    disk.limit(None);
    let store = TensorStore::open_on(Arc::new(disk), config(64 << 20).1).expect("opens");
    assert_eq!(store.len(), 5_000);
}

#[test]
fn a_tick_on_a_full_disk_frees_the_space_it_needs() {
    // With many segments, and with one.
    for segment_bytes in [100_000, 64 << 20] {
        let disk = SimulatedDisk::default();
        disk.limit(Some(2_000_000));
        let (clock, settings) = config(segment_bytes);
        let (store, count) = filled(&disk, settings);
        let mut moved = 0;
        for hour in 1..=48 {
            clock.set(START + hour * HOUR);
            moved += store.tick(START + hour * HOUR).expect("ticks").moves.len();
        }
        assert!(moved >= count as usize, "{moved} moves of {count} tensors");
        let before = disk.used();
        store.compact(ALL).expect("compacts");
        assert!(disk.used() < before);
        store.put("more", &[1000], &wave(1, 1000)).expect("there is room again");
    }
}

#[test]
fn a_tick_that_stops_says_how_many_tensors_it_moved() {
    let disk = SimulatedDisk::default();
    let (clock, settings) = config(64 << 20);
    let store = TensorStore::open_on(Arc::new(disk.clone()), settings).expect("opens");
    for i in 0..500_u32 {
        store.put(u128::from(i), &[1000], &wave(i as usize, 1000)).expect("put");
    }
    clock.set(START + 3 * HOUR);
    // Other programs filled the disk: enough space for some of the moves, but not for a compaction.
    disk.limit(Some(disk.used() + 200_000));
    let stopped = store.tick(START + 3 * HOUR).expect_err("does not fit");
    assert!(stopped.is_no_space());
    let bits = |bits| store.scan(None).filter(|about| about.as_ref().expect("read").provenance.bits == bits).count();
    let StoreError::Stopped { operation: "tick", done, total: 500, .. } = stopped else { panic!("{stopped}") };
    assert!(done > 0 && done < 500);
    assert_eq!((bits(7), bits(8)), (done, 500 - done));
    assert!(stopped_says(&stopped, done), "{stopped}");
    disk.limit(None);
    let report = store.tick(START + 3 * HOUR).expect("there is room");
    assert_eq!(report.moves.len(), 500 - done);
}

fn stopped_says(error: &StoreError, done: usize) -> bool {
    error.to_string().contains(&format!("stopped after {done} of 500 moves"))
}

#[test]
fn a_put_that_does_not_fit_changes_nothing_and_a_smaller_one_succeeds() {
    let disk = SimulatedDisk::default();
    disk.limit(Some(400_000));
    let (store, count) = filled(&disk, config(64 << 20).1);
    let (used, len) = (disk.used(), store.len());
    for tries in 0..5 {
        let options = PutOptions { lossless: tries % 2 == 0, ..PutOptions::default() };
        let refused = store.put_with("big", &[50_000], &wave(9, 50_000), &options).map(drop).expect_err("full");
        assert!(refused.is_no_space(), "{refused}");
    }
    assert_eq!((disk.used(), store.len(), store.contains("big")), (used, len, false));
    for i in 0..count {
        store.get(u128::from(i)).expect("still there");
    }
}
