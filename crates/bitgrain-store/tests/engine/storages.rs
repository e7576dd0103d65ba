//! Requirements for every storage. Add new storages to [`storages`].

use std::io;
use std::path::Path;
use std::sync::Arc;

use bitgrain_store::storage::object::{MemoryObjects, ObjectFolder, RemoteConfig};
use bitgrain_store::storage::simulated::SimulatedDisk;
use bitgrain_store::storage::{LocalFolder, MemoryFolder, Storage};
use bitgrain_store::{CompactOptions, Dependents, StoreConfig, TensorStore, Tier};

use super::wave;

/// Returns a new storage of each kind, with its type name.
fn storages(folder: &Path) -> Vec<(&'static str, Arc<dyn Storage>)> {
    vec![
        ("LocalFolder", Arc::new(LocalFolder::lock(folder, true).expect("nobody else has it"))),
        ("MemoryFolder", Arc::new(MemoryFolder::default())),
        ("ObjectFolder", Arc::new(object_folder())),
        ("SimulatedDisk", Arc::new(SimulatedDisk::default())),
    ]
}

fn object_folder() -> ObjectFolder {
    ObjectFolder::lock(Arc::new(MemoryObjects::default()), RemoteConfig::default(), true).expect("memory")
}

#[test]
fn every_storage_of_the_crate_is_tested_here() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tested: Vec<String> = storages(folder.path()).iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/storage")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().expect("the sources").map(|entry| entry.expect("a name").path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let source = std::fs::read_to_string(&entry).expect("Rust");
            let names = source.lines().filter_map(|line| line.strip_prefix("impl Storage for "));
            found.extend(names.map(|rest| rest.trim_end_matches(" {").to_owned()));
        }
    }
    tested.sort();
    found.sort();
    assert_eq!(found, tested);
}

#[test]
fn names_are_unique_and_open_files_outlive_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, storage) in storages(folder.path()) {
        let kind = |result: io::Result<()>| result.err().map(|error| error.kind());
        let file = storage.create_new("a").expect(name);
        assert_eq!(kind(storage.create_new("a").map(drop)), Some(io::ErrorKind::AlreadyExists), "{name}");
        assert_eq!(kind(storage.open("b").map(drop)), Some(io::ErrorKind::NotFound), "{name}");
        assert_eq!(kind(storage.remove("b")), Some(io::ErrorKind::NotFound), "{name}");
        assert!(storage.list().expect(name).contains(&"a".to_owned()), "{name}");
        file.write_at(0, b"grain").expect(name);
        storage.remove("a").expect(name);
        storage.sync_folder().expect(name);
        assert!(!storage.list().expect(name).contains(&"a".to_owned()), "{name}");
        let mut bytes = [0; 5];
        file.read_at(0, &mut bytes).expect(name);
        assert_eq!(&bytes, b"grain", "{name}: a file that is open stays readable");
    }
}

#[test]
fn files_grow_are_truncated_and_have_the_expected_length() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, storage) in storages(folder.path()) {
        let file = storage.create_new("a").expect(name);
        assert!(file.is_empty().expect(name), "{name}");
        file.write_at(0, b"bits").expect(name);
        file.write_at(4, b"and bytes").expect(name);
        file.set_len(7).expect(name);
        file.sync_data().expect(name);
        let again = storage.open("a").expect(name);
        assert_eq!(again.len().expect(name), 7, "{name}");
        let mut bytes = [0; 3];
        again.read_at(4, &mut bytes).expect(name);
        assert_eq!(&bytes, b"and", "{name}");
        assert!(file.mapped(4, 3).is_none_or(|mapped| mapped == b"and"), "{name}");
        let past = again.read_at(5, &mut bytes).map_err(|error| error.kind());
        assert_eq!(past, Err(io::ErrorKind::UnexpectedEof), "{name}");
    }
}

#[test]
fn a_store_works_on_every_storage() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, storage) in storages(folder.path()) {
        let config = StoreConfig { segment_bytes: 4096, ..StoreConfig::default() };
        let open = || TensorStore::open_on(Arc::clone(&storage), config.clone()).expect(name);
        let store = open();
        for i in 0..20 {
            store.put(format!("t{i}").as_str(), &[200], &wave(i, 200)).expect(name);
        }
        store.delete("t3", Dependents::Refuse).expect(name);
        store.compact(CompactOptions { all: true, ..CompactOptions::default() }).expect(name);
        let before = store.get("t7").expect(name);
        store.close().expect(name);
        let store = open();
        assert_eq!((store.len(), store.get("t7").expect(name)), (19, before.clone()), "{name}");
        assert_eq!(before.provenance.tier, Tier::Hot, "{name}");
        assert!(store.verify().expect(name).is_clean(), "{name}");
    }
}
