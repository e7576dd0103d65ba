//! `verify`: reported damage and exit codes.

use std::fs;
use std::path::Path;

use bitgrain::store::{StoreConfig, TensorStore};
use serde_json::Value;

use super::{bitgrain, error, flip, folder, name, printed, refusal, segments};

fn damages(folder: &Path, store: &str) -> Value {
    let (found, _) = refusal(folder, &["verify", store, "--json"]);
    serde_json::from_str(&found).expect("JSON")
}

#[test]
fn a_flipped_bit_is_detected_and_located() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["compact", "s", "--all"]);
    assert!(printed(folder, &["verify", "s"]).contains("no damage found"));
    let segments = segments(&folder.join("s"));
    let largest = segments.iter().max_by_key(|path| fs::metadata(path).map_or(0, |about| about.len())).expect("one");
    flip(largest, fs::read(largest).expect("readable").len() / 4);
    let (said, stderr) = refusal(folder, &["verify", "s"]);
    assert!(said.contains(&name(largest)) && stderr.contains("damaged"), "{said}");
    assert!(stderr.contains("bitgrain store salvage s NEW"), "{stderr}");
}

#[test]
fn verify_lists_all_damage_of_a_store_that_does_not_open() {
    let folder = folder();
    let folder = folder.path();
    let files = segments(&folder.join("s"));
    assert!(files.len() >= 3, "a segment for each session");
    // Damage the headers of two segments, and a record of a third.
    flip(&files[0], 20);
    flip(&files[1], 20);
    let len = fs::metadata(&files[2]).expect("there").len();
    flip(&files[2], usize::try_from(len / 3).expect("small"));
    let said = error(folder, &["ls", "s"]);
    assert!(said.contains("bitgrain store verify s") && said.contains("bitgrain store salvage s NEW"), "{said}");
    let found = damages(folder, "s");
    assert_eq!(found["opens"], false);
    let list = found["damages"].as_array().expect("a list");
    for file in &files[..3] {
        assert!(list.iter().any(|damage| damage["segment"] == name(file).as_str()), "{} in {list:?}", name(file));
    }
    assert!(list.iter().any(|damage| damage["id"] == "room" && damage["id_kind"] == "name"), "{list:?}");
    let (text, stderr) = refusal(folder, &["verify", "s"]);
    assert!(text.contains("does not open") && stderr.contains(&format!("damaged in {} places", list.len())));
}

#[test]
fn a_store_without_a_manifest_is_damaged_and_a_missing_store_is_an_error() {
    let folder = folder();
    let folder = folder.path();
    for entry in fs::read_dir(folder.join("s")).expect("a folder").flatten() {
        if entry.file_name().to_string_lossy().starts_with("manifest-") {
            fs::remove_file(entry.path()).expect("removed");
        }
    }
    assert!(damages(folder, "s")["damages"].as_array().is_some_and(|list| !list.is_empty()));
    assert_eq!(bitgrain(folder, &["verify", "nowhere"]).status.code(), Some(2));
}

#[test]
fn a_file_of_another_store_is_damage() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["init", "t"]);
    printed(folder, &["put", "t", "m", "m.npy"]);
    let foreign = segments(&folder.join("t")).remove(0);
    let place = folder.join("s").join("segment-00000000000000ff");
    fs::copy(&foreign, &place).expect("copied");
    let found = damages(folder, "s");
    assert!(found["damages"].as_array().expect("a list").iter().any(|one| one["segment"] == name(&place).as_str()));
}

#[test]
fn a_record_truncated_by_a_crash_is_reported_but_not_as_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let store = TensorStore::open(folder.join("s"), StoreConfig::default()).expect("opens");
    store.put("x", &[100], &[0.5; 100]).expect("put");
    // The state after a crash in the middle of another write.
    fs::create_dir(folder.join("copy")).expect("made");
    for entry in fs::read_dir(folder.join("s")).expect("a folder").flatten() {
        fs::copy(entry.path(), folder.join("copy").join(entry.file_name())).expect("copied");
    }
    drop(store);
    let last = segments(&folder.join("copy")).pop().expect("one");
    let mut bytes = fs::read(&last).expect("readable");
    bytes.extend([7; 123]);
    fs::write(&last, bytes).expect("written");
    let found: Value = serde_json::from_str(&printed(folder, &["verify", "copy", "--json"])).expect("JSON");
    assert_eq!((found["torn_bytes"].as_u64(), found["damages"].as_array().map(Vec::len)), (Some(123), Some(0)));
    let said = printed(folder, &["verify", "copy"]);
    assert!(said.contains("123 bytes at the end") && said.contains("no damage found"), "{said}");
}
