//! Readers next to an active writer: they never report damage.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bitgrain_store::{CompactOptions, OnDamage, StoreConfig, SyncMode, TensorStore};

use super::{Over, open, wave};

#[test]
fn a_reader_verifies_a_store_whose_manifest_was_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[100], &wave(1, 100)).expect("put");
    let reader = TensorStore::open_read_only(folder.path()).expect("opens");
    assert!(reader.recovery().is_clean(), "{:?}", reader.recovery());
    store.put("x", &[100], &wave(2, 100)).expect("put");
    store.compact(CompactOptions { all: true, garbage: 0.0 }).expect("compacts");
    let report = reader.verify().expect("reads");
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(reader.get("x").expect("still open").values.len(), 100);
}

#[test]
fn a_missing_manifest_without_a_newer_one_is_damage_for_readers_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[100], &wave(1, 100)).expect("put");
    store.close().expect("closes");
    let reader = TensorStore::open_read_only(folder.path()).expect("opens");
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.to_string_lossy().contains("manifest-") {
            std::fs::remove_file(path).expect("removed");
        }
    }
    assert_eq!(reader.verify().expect("reads").damages.len(), 1);
}

#[test]
fn readers_find_no_damage_during_writes_and_compaction() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = StoreConfig { segment_bytes: 16 << 10, sync: SyncMode::OnSeal, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), config).expect("opens");
    store.put(0_u128, &[300], &wave(0, 300)).expect("put");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !over.load(Relaxed) {
                round += 1;
                for i in 0..20 {
                    store.put(i as u128, &[300], &wave(round + i, 300)).expect("put");
                }
                store.compact(CompactOptions { all: round % 3 == 0, garbage: 0.2 }).expect("compacts");
            }
        });
        let _over = Over(&over);
        for round in 0..150 {
            let on_damage = if round % 2 == 0 { OnDamage::Refuse } else { OnDamage::Salvage };
            let config = StoreConfig { on_damage, ..StoreConfig::default() };
            let reader = TensorStore::open_read_only_with(folder.path(), config).expect("opens");
            assert!(reader.recovery().is_clean(), "round {round}: {:?}", reader.recovery());
            let report = reader.verify().expect("reads");
            assert!(report.is_clean(), "round {round}: {report:?}");
            assert!(!reader.is_empty());
        }
    });
}
