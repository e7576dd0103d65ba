//! After reopening, the store contains all acknowledged writes and nothing else.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use bitgrain_store::{
    CompactOptions, Dependents, OnDamage, PutOptions, StoreConfig, StoreError, TensorId, TensorStore, Tier,
};

use super::{open, small_segments, wave};

/// Returns the segment files in numeric order.
fn segments(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_segment =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("segment"));
    let mut names: Vec<PathBuf> = names.filter(is_segment).collect();
    names.sort();
    names
}

/// Drops the store like a killed process: segments are not sealed, and the lock is released.
fn vanish(store: TensorStore, folder: &Path) -> tempfile::TempDir {
    let copy = copied(folder);
    drop(store);
    copy
}

fn copied(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, copy.path().join(path.file_name().expect("a name"))).expect("copied");
    }
    copy
}

#[test]
fn puts_persist_across_closing_and_reopening() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    assert!(store.recovery().created);
    for i in 0..50 {
        store.put(i as u128, &[10, 10], &wave(i, 100)).expect("put");
    }
    store.put("a name", &[3], &[1.0, 2.0, 3.0]).expect("put");
    store.delete(7_u128, Dependents::Refuse).expect("deleted");
    store.put(8_u128, &[2], &[5.0, -5.0]).expect("replaced");
    let before: Vec<_> = (0..50_u128).map(|i| store.get(i).ok()).collect();
    store.close().expect("closes");

    let store = open(folder.path());
    assert!(store.recovery().is_clean(), "{:?}", store.recovery());
    assert_eq!((store.len(), store.recovery().tensors), (50, 50));
    let after: Vec<_> = (0..50_u128).map(|i| store.get(i).ok()).collect();
    assert_eq!(before, after);
    assert!(matches!(store.get(7_u128), Err(StoreError::NotFound { .. })));
    assert_eq!(store.get(8_u128).expect("there").shape, [2]);
    assert_eq!(store.get("a name").expect("there").values.len(), 3);
}

#[test]
fn puts_persist_without_closing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for i in 0..20 {
        store.put(i as u128, &[100], &wave(i, 100)).expect("put");
    }
    let before: Vec<_> = (0..20_u128).map(|i| store.get(i).expect("there")).collect();
    let copy = vanish(store, folder.path());
    let store = open(copy.path());
    assert_eq!((store.recovery().scanned.len(), store.recovery().torn_bytes), (1, 0));
    let after: Vec<_> = (0..20_u128).map(|i| store.get(i).expect("there")).collect();
    assert_eq!(before, after);
    // The log continues where it ended.
    store.put("more", &[1], &[1.0]).expect("put");
    assert_eq!(segments(copy.path()).len(), 1);
}

#[test]
fn only_the_interrupted_write_is_truncated() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("first", &[100], &wave(1, 100)).expect("put");
    let whole = fs::metadata(&segments(folder.path())[0]).expect("a segment").len();
    store.put("second", &[100], &wave(2, 100)).expect("put");
    let left = vanish(store, folder.path());
    let len = fs::metadata(&segments(left.path())[0]).expect("a segment").len();
    for cut in whole..len {
        let copy = copied(left.path());
        let path = segments(copy.path()).remove(0);
        OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(cut)).expect("cut");
        let store = open(copy.path());
        assert_eq!(store.recovery().torn_bytes, cut - whole);
        assert!(store.contains("first") && !store.contains("second"), "cut at {cut}");
        store.get("first").expect("whole");
        let again = vanish(store, copy.path());
        assert_eq!(fs::metadata(&segments(again.path())[0]).expect("a segment").len(), whole);
    }
}

#[test]
fn damage_before_the_durable_offset_is_an_error_not_a_truncation() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for i in 0..5 {
        store.put(i as u128, &[100], &wave(i, 100)).expect("put");
    }
    let copy = vanish(store, folder.path());
    let path = segments(copy.path()).remove(0);
    let mut bytes = fs::read(&path).expect("a segment");
    bytes[200] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let Err(StoreError::Damaged { offset, .. }) = TensorStore::open(copy.path(), StoreConfig::default()) else {
        panic!("damage was not noticed")
    };
    assert!(offset <= 200);
    let salvage = StoreConfig { on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    assert!(TensorStore::open_read_only(copy.path()).is_err());
    let reader = TensorStore::open_read_only_with(copy.path(), salvage.clone()).expect("opens with the rest");
    assert_eq!((reader.len(), reader.recovery().damages.len()), (4, 1));
    assert_eq!(fs::read(&path).expect("a segment"), bytes, "a reader repairs nothing");
    drop(reader);
    let store = TensorStore::open(copy.path(), salvage).expect("opens with the rest");
    assert_eq!((store.len(), store.recovery().damages.len()), (4, 1));
}

#[test]
fn a_closed_store_with_a_truncated_or_missing_last_segment_is_damaged_not_torn() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..3 {
        let store = open(folder.path());
        for i in 0..3 {
            store.put(format!("{round}/{i}"), &[100], &wave(i, 100)).expect("put");
        }
        store.close().expect("closes");
    }
    let newest = segments(folder.path()).pop().expect("a segment");
    let name = newest.file_name().expect("a name").to_string_lossy().into_owned();
    let whole = fs::read(&newest).expect("a segment");
    let salvage = StoreConfig { on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    for cut in [Some(whole.len() - 1), Some(whole.len() / 2), Some(64), Some(0), None] {
        match cut {
            Some(cut) => fs::write(&newest, &whole[..cut]).expect("written"),
            None => fs::remove_file(&newest).expect("removed"),
        }
        for refused in
            [TensorStore::open(folder.path(), StoreConfig::default()), TensorStore::open_read_only(folder.path())]
        {
            let Err(StoreError::Damaged { segment, .. }) = refused else { panic!("cut at {cut:?}: opened") };
            assert_eq!(segment, name);
        }
        let store = TensorStore::open_read_only_with(folder.path(), salvage.clone()).expect("opens with the rest");
        assert!((6..9).contains(&store.len()) || cut == Some(whole.len() - 1), "cut at {cut:?}: {}", store.len());
        assert_eq!(store.recovery().damages[0].segment, name);
        assert!(!store.verify().expect("readable").is_clean());
    }
    fs::write(&newest, &whole).expect("written");
    assert!(open(folder.path()).recovery().is_clean());
}

#[test]
fn salvage_names_the_losses_and_compaction_keeps_the_rest() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for i in 0..6 {
        store.put(i as u128, &[100], &wave(i, 100)).expect("put");
    }
    let before: Vec<_> = (0..6_u128).map(|i| store.get(i).expect("there")).collect();
    store.close().expect("closes");
    let path = segments(folder.path()).pop().expect("a segment");
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut bytes = fs::read(&path).expect("a segment");
    let end = bytes.len();
    bytes[64 + 300] ^= 1; // the body of the third record
    bytes[end - 40] ^= 1; // the index
    fs::write(&path, &bytes).expect("written");
    let refused = TensorStore::open(folder.path(), StoreConfig::default()).err();
    assert!(matches!(refused, Some(StoreError::Damaged { id: Some(_), .. })), "{refused:?}");
    let salvage = StoreConfig { on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    let store = TensorStore::open(folder.path(), salvage).expect("opens with the rest");
    let damage = &store.recovery().damages[0];
    let lost = damage.id.clone().expect("its head is whole");
    assert_eq!((&damage.segment, store.contains(&lost), store.len()), (&name, false, 5));
    store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("compacts");
    store.close().expect("closes");
    let store = open(folder.path());
    assert!(store.recovery().is_clean() && store.verify().expect("readable").is_clean());
    for i in (0..6_u128).filter(|i| TensorId::from(*i) != lost) {
        assert_eq!(store.get(i).expect("was whole"), before[i as usize]);
    }
}

#[test]
fn only_opening_for_writing_reverts_the_closed_state() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("first", &[100], &wave(1, 100)).expect("put");
    store.close().expect("closes");
    let files = |folder: &Path| {
        let mut files: Vec<_> =
            fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        files.sort();
        files
    };
    let closed = files(folder.path());
    open(folder.path()).close().expect("closes");
    assert_eq!(files(folder.path()), closed, "nothing was written");
    // After a write, a missing end is attributed to a crash.
    let store = open(folder.path());
    store.put("second", &[100], &wave(2, 100)).expect("put");
    let copy = vanish(store, folder.path());
    let newest = segments(copy.path()).pop().expect("a segment");
    OpenOptions::new().write(true).open(&newest).and_then(|file| file.set_len(100)).expect("cut");
    let store = open(copy.path());
    assert_eq!((store.recovery().torn_bytes, store.verify().expect("readable").torn_bytes), (36, 36));
    assert!(store.contains("first") && !store.contains("second"));
}

#[test]
fn segments_are_sealed_and_followed_by_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
    for i in 0..300 {
        store.put((i % 100) as u128, &[1000], &wave(i, 1000)).expect("put");
    }
    let before: Vec<_> = (0..100_u128).map(|i| store.get(i).expect("there")).collect();
    let copy = vanish(store, folder.path());
    assert!(segments(copy.path()).len() > 10);
    for folder in [&folder, &copy] {
        let store = TensorStore::open(folder.path(), small_segments()).expect("opens");
        let after: Vec<_> = (0..100_u128).map(|i| store.get(i).expect("there")).collect();
        assert_eq!(before, after);
    }
    // A missing segment is noticed.
    fs::remove_file(&segments(folder.path())[5]).expect("removed");
    assert!(matches!(TensorStore::open(folder.path(), small_segments()), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_store_is_open_for_writing_once_and_for_reading_always() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(TensorStore::open_read_only(folder.path()), Err(StoreError::NoStore)));
    let none = StoreConfig { create: false, ..StoreConfig::default() };
    assert!(matches!(TensorStore::open(folder.path(), none), Err(StoreError::NoStore)));
    let store = open(folder.path());
    store.put("x", &[1], &[1.0]).expect("put");
    let Err(StoreError::Locked { pid }) = TensorStore::open(folder.path(), StoreConfig::default()) else {
        panic!("opened twice")
    };
    assert_eq!(pid, std::process::id());
    let reader = TensorStore::open_read_only(folder.path()).expect("opens");
    assert_eq!(reader.get("x").expect("there").values.len(), 1);
    assert!(matches!(reader.put("y", &[1], &[1.0]), Err(StoreError::ReadOnly)));
    assert!(matches!(reader.delete("x", Dependents::Refuse), Err(StoreError::ReadOnly)));
    drop(store);
    open(folder.path());
}

#[test]
fn tensors_without_values_or_axes_are_valid() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    for (id, shape, values) in
        [("none", vec![3, 0, 5], vec![]), ("one", vec![], vec![2.5]), ("zeros", vec![4], vec![0.0; 4])]
    {
        for tier in [Tier::Hot, Tier::Cold, Tier::Lossless] {
            let options = PutOptions { tier: Some(tier), ..PutOptions::default() };
            store.put_with(id, &shape, &values, &options).expect("put");
            let tensor = store.get(id).expect("there");
            assert_eq!((&tensor.shape, tensor.values.len(), tensor.provenance.tier), (&shape, values.len(), tier));
        }
    }
    assert_eq!(store.get("zeros").expect("there").values, [0.0; 4]);
}

#[test]
fn unsupported_values_are_rejected_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    assert!(matches!(store.put("", &[1], &[1.0]), Err(StoreError::IdEmpty)));
    assert!(matches!(store.put("x".repeat(65_537), &[1], &[1.0]), Err(StoreError::IdTooLong { len: 65_537, .. })));
    assert!(matches!(store.put("x", &[2], &[1.0]), Err(StoreError::ShapeMismatch { expected: 2, got: 1 })));
    assert!(matches!(store.put("x", &[usize::MAX, 2], &[1.0]), Err(StoreError::ShapeOverflow { .. })));
    assert!(matches!(store.put("x", &[1; 100], &[1.0]), Err(StoreError::TooManyAxes { axes: 100, .. })));
    assert!(matches!(store.put("x", &[2], &[1.0, f32::NAN]), Err(StoreError::NonFinite { index: 1 })));
    assert!(matches!(store.get("x"), Err(StoreError::NotFound { .. })));
    assert!(matches!(store.delete("x", Dependents::Refuse), Err(StoreError::NotFound { .. })));
    let options = PutOptions { max_error: Some(1e-6), ..PutOptions::default() };
    assert!(matches!(store.put_with("x", &[2], &[1.0, 0.3], &options), Err(StoreError::BoundExceeded { .. })));
    assert!(store.is_empty());
}

#[test]
fn a_folder_without_a_store_is_not_modified() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("LOCK"), "of somebody else").expect("written");
    let refused = TensorStore::open(folder.path(), StoreConfig { create: false, ..StoreConfig::default() });
    assert!(matches!(refused.err(), Some(StoreError::NoStore)));
    assert_eq!(fs::read(folder.path().join("LOCK")).expect("there"), b"of somebody else");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_file_number_that_no_store_can_reach_is_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    open(folder.path()).close().expect("closes");
    for name in ["segment-ffffffffffffffff", "manifest-fffffffffffffffe"] {
        fs::write(folder.path().join(name), "").expect("written");
        let refused = TensorStore::open(folder.path(), StoreConfig::default()).err();
        assert!(matches!(&refused, Some(StoreError::Foreign { name: found }) if found == name), "{refused:?}");
        fs::remove_file(folder.path().join(name)).expect("there");
    }
    open(folder.path()).put("x", &[1], &[1.0]).expect("as before");
}

#[cfg(target_os = "linux")] // where files have holes
#[test]
fn a_segment_larger_than_memory_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    store.put("x", &[1], &[1.0]).expect("put");
    store.close().expect("closes");
    let path = segments(folder.path()).pop().expect("a segment");
    let file = OpenOptions::new().write(true).open(path).expect("there");
    // On a system that overcommits memory, the allocation would succeed.
    let promises = fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "1");
    if !promises && file.set_len(15 << 40).is_ok() {
        let refused = TensorStore::open(folder.path(), StoreConfig::default()).err();
        assert!(matches!(refused, Some(StoreError::Damaged { .. })), "{refused:?}");
    }
}
