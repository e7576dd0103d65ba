//! Copies that are updated with what is missing, and stores at addresses.

use std::fs;

use bitgrain_store::{CompactOptions, Dependents, StoreConfig, StoreError, TensorStore};

use super::{open, wave};

/// Opens a copy read-only and checks that it equals the store.
fn same(store: &TensorStore, copy: &str) {
    let copy = TensorStore::open_read_only(copy).expect("opens");
    assert!(copy.verify().expect("readable").is_clean());
    // Reads of a snapshot do not count as use, which would be written with the next sync.
    let (here, there) = (store.snapshot(), copy.snapshot());
    assert_eq!(there.ids(), here.ids());
    for id in here.ids() {
        assert_eq!(there.get(&id).expect("copied"), here.get(&id).expect("there"), "{id}");
    }
}

#[test]
fn a_replica_receives_only_what_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = folder.path().join("copy").to_str().expect("a path").to_owned();
    let store = open(&folder.path().join("store"));
    for copy in [&*local, "memory://replica-receives"] {
        store.put("a", &[3000], &wave(1, 3000)).expect("space");
        let first = store.sync_to(copy).expect("a new copy");
        assert!(first.segments_copied >= 1 && first.segments_kept == 0, "{first:?}");
        same(&store, copy);
        let again = store.sync_to(copy).expect("an equal copy");
        assert_eq!((again.segments_copied, again.bytes_copied, again.segments_removed), (0, 0, 0), "{again:?}");
        store.put("b", &[10], &wave(2, 10)).expect("space");
        let more = store.sync_to(copy).expect("an older copy");
        assert!(more.segments_copied == 1 && more.bytes_copied < first.bytes_copied / 2, "{more:?}");
        same(&store, copy);
        store.delete("a", Dependents::Refuse).expect("there");
        store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect("space");
        let compacted = store.sync_to(copy).expect("an older copy");
        assert!(compacted.segments_removed >= 2, "{compacted:?}");
        same(&store, copy);
    }
}

#[test]
fn the_growing_end_of_the_log_is_continued() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, copy) = (folder.path().join("store"), "memory://replica-grows");
    let store = open(&path);
    store.put("a", &[5000], &wave(1, 5000)).expect("space");
    // Another process: it reads the segment that is still being written.
    let reader = || TensorStore::open_read_only(&path).expect("opens");
    let first = reader().sync_to(copy).expect("a new copy");
    store.put("b", &[10], &wave(2, 10)).expect("space");
    let second = reader().sync_to(copy).expect("an older copy");
    assert_eq!((first.segments_copied, second.segments_copied), (1, 1));
    assert!(second.bytes_copied < 300, "{second:?}");
    same(&reader(), copy);
    store.close().expect("in order");
    reader().sync_to(copy).expect("sealed in the meantime");
    same(&reader(), copy);
}

#[test]
fn a_copy_that_was_changed_or_is_another_store_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("store"));
    store.put("a", &[3], &wave(1, 3)).expect("space");
    let copy = folder.path().join("copy");
    store.sync_to(&copy).expect("a new copy");
    let changed = open(&copy);
    changed.put("own", &[1], &[1.0]).expect("space");
    changed.close().expect("in order");
    let refused = store.sync_to(&copy).expect_err("changed");
    assert!(matches!(refused, StoreError::NotReplica { .. }), "{refused}");
    assert!(TensorStore::open_read_only(&copy).expect("opens").contains("own"), "nothing was overwritten");

    let other = folder.path().join("other");
    open(&other).close().expect("in order");
    let refused = store.sync_to(&other).expect_err("another store");
    assert!(refused.to_string().contains("another store"), "{refused}");
    let refused = store.sync_to(folder.path().join("store/inside")).expect_err("inside");
    assert!(matches!(refused, StoreError::InsideStore { .. }), "{refused}");
    fs::create_dir(folder.path().join("files")).expect("writable");
    fs::write(folder.path().join("files/x"), "of another program").expect("writable");
    let refused = store.sync_to(folder.path().join("files")).expect_err("files of another program");
    assert!(matches!(refused, StoreError::OtherFiles { .. }), "{refused}");
}

#[test]
fn an_interrupted_sync_is_completed_by_the_next_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("store"));
    store.put("a", &[3000], &wave(1, 3000)).expect("space");
    let copy = folder.path().join("copy");
    store.sync_to(&copy).expect("a new copy");
    store.put("b", &[3000], &wave(2, 3000)).expect("space");
    store.sync_to(&copy).expect("an older copy");
    // As a crash before the manifest leaves it: a segment that no marker knows, with wrong bytes.
    store.put("c", &[3000], &wave(3, 3000)).expect("space");
    let other = tempfile::tempdir().expect("a folder");
    store.backup(other.path().join("b")).expect("space");
    for entry in other.path().join("b").read_dir().expect("a folder").map(|entry| entry.expect("readable")) {
        let name = entry.file_name().into_string().expect("ASCII");
        if name.starts_with("segment-") && !copy.join(&name).exists() {
            let mut bytes = fs::read(entry.path()).expect("readable");
            bytes[100..].fill(0);
            fs::write(copy.join(name), bytes).expect("writable");
        }
    }
    store.sync_to(&copy).expect("an interrupted copy");
    same(&store, copy.to_str().expect("a path"));
}

#[test]
fn a_store_at_an_address_can_be_backed_up_in_both_directions() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = TensorStore::open("memory://backup-from", StoreConfig::default()).expect("opens");
    store.put("a", &[300], &wave(1, 300)).expect("memory");
    store.backup("memory://backup-to").expect("empty");
    same(&store, "memory://backup-to");
    let local = folder.path().join("local");
    store.backup(&local).expect("empty");
    same(&store, local.to_str().expect("a path"));
    for taken in ["memory://backup-to", local.to_str().expect("a path")] {
        assert!(matches!(store.backup(taken), Err(StoreError::NotEmpty { .. })), "{taken}");
    }
    let missing = TensorStore::open_read_only("memory://nothing-here");
    assert!(matches!(missing, Err(StoreError::NoStore)));
    let config = StoreConfig { create: false, ..StoreConfig::default() };
    assert!(matches!(TensorStore::open("memory://nothing-here", config), Err(StoreError::NoStore)));
    let text = StoreError::NeedsRemote { scheme: "s3".into() }.to_string();
    assert!(text.contains("`s3://`") && text.contains("cargo feature `remote`"), "{text}");
}
