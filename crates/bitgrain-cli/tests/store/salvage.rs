//! `salvage`: the readable part of a damaged store is copied to a new one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bitgrain::store::reconstruct::{DeltaValues, Reconstruction};
use bitgrain::store::{PutOptions, StoreConfig, TensorStore, Tier};
use serde_json::Value;

use super::{bitgrain, error, flip, folder, json, name, printed, refusal, segments};

/// Reads every file of a folder.
fn bytes_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries.map(|entry| (name(&entry.path()), fs::read(entry.path()).expect("readable"))).collect()
}

/// Returns the offset of the first occurrence of a string in a file.
fn place_of(path: &Path, text: &str) -> usize {
    let bytes = fs::read(path).expect("readable");
    bytes.windows(text.len()).position(|part| part == text.as_bytes()).expect("there")
}

#[test]
fn an_undamaged_store_is_copied_unchanged() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["pin", "s", "m", "hot"]);
    printed(folder, &["put", "s", "#7", "v.npy", "--max-error", "0.1", "--tier", "warm"]);
    let found = json(folder, &["salvage", "s", "new"]);
    assert_eq!((found["copied"].as_u64(), found["frames"].as_u64()), (Some(4), Some(50)));
    assert_eq!(found["lost"].as_array().map(Vec::len), Some(0));
    let (mut old, mut new) = (json(folder, &["ls", "s"]), json(folder, &["ls", "new"]));
    for list in [&mut old, &mut new] {
        for about in list.as_array_mut().expect("a list") {
            about["score"] = Value::Null; // fades with time
            about["bytes"] = Value::Null; // a record says where it is
        }
    }
    assert_eq!(old, new, "shapes, tiers, bounds, times, uses, pins, limits");
    for id in ["m", "in/v", "room", "#7"] {
        assert_eq!(json(folder, &["get", "s", id]), json(folder, &["get", "new", id]), "{id}");
    }
    assert!(error(folder, &["salvage", "s", "new"]).contains("not empty"));
}

#[test]
fn readable_tensors_are_copied_and_lost_ones_named() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["compact", "s", "--all"]);
    let file = segments(&folder.join("s")).remove(0);
    // The data of `m` follows its header.
    let at = place_of(&file, "m");
    flip(&file, at + 3000);
    let room = json(folder, &["get", "s", "room"]);
    let broken = bytes_of(&folder.join("s"));
    let (found, stderr) = refusal(folder, &["salvage", "s", "new", "--json"]);
    assert!(stderr.contains("some data is lost"), "{stderr}");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let lost = found["lost"].as_array().expect("a list");
    assert_eq!((lost.len(), lost[0]["id"].as_str()), (1, Some("m")), "{lost:?}");
    assert_eq!(found["copied"], 2);
    assert!(printed(folder, &["verify", "new"]).contains("no damage found"));
    assert_eq!(json(folder, &["get", "new", "room"]), room);
    assert_eq!(bytes_of(&folder.join("s")), broken, "the damaged store is as it was");
    fs::remove_dir_all(folder.join("new")).expect("removed");
    let (text, _) = refusal(folder, &["salvage", "s", "new"]);
    assert!(text.contains("copied 2 tensors and 50 frames") && text.contains("| m "), "{text}");
}

#[test]
fn a_store_that_does_not_open_is_salvaged_except_for_lost_data() {
    let folder = folder();
    let folder = folder.path();
    let files = segments(&folder.join("s"));
    flip(&files[0], 20); // the header of the segment with `m`
    error(folder, &["get", "s", "in/v"]);
    let (text, _) = refusal(folder, &["salvage", "s", "new"]);
    assert!(text.contains(&name(&files[0])), "{text}");
    printed(folder, &["verify", "new"]);
    assert_eq!(json(folder, &["stat", "new"])["tensors"], 2);
    printed(folder, &["get", "new", "in/v"]);
}

#[test]
fn frames_before_the_first_damage_are_salvaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let store = TensorStore::open(folder.join("s"), StoreConfig::default()).expect("opens");
    for i in 0..40_u16 {
        let frame: Vec<f32> = (0..500).map(|at| f32::from(at * (i + 1)).sin()).collect();
        store.append("room", &[500], &frame, i.into()).expect("appended");
    }
    store.close().expect("closes");
    let file = segments(&folder.join("s")).remove(0);
    let len = fs::metadata(&file).expect("there").len();
    flip(&file, usize::try_from(len / 2).expect("small"));
    let (found, _) = refusal(folder, &["salvage", "s", "new", "--json"]);
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let kept = found["lost"][0]["frames_copied"].as_u64().expect("a number");
    assert!((10..30).contains(&kept) && found["lost"][0]["frames"] == 40, "{found}");
    let range = format!("0..{kept}");
    assert_eq!(json(folder, &["get", "new", "room"]), json(folder, &["get", "s", "room", "--frames", &range]));
}

#[test]
fn reconstructed_tensors_are_copied_with_their_bases() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let store = TensorStore::open(folder.join("s"), StoreConfig::default()).expect("opens");
    let values: Vec<f32> = (0_u16..4000).map(|i| (f32::from(i) * 0.1).sin()).collect();
    let delta = |base: &str| Reconstruction::Delta { base: base.into(), values: DeltaValues::Delta(vec![1.0; 4000]) };
    // The ids sort before those of the tensors that they are reconstructed from.
    store.put("z-base", &[4000], &values).expect("put");
    store.put_absent("a-sum", &[4000], &delta("z-base")).expect("put");
    store.put("y-broken", &[4000], &values).expect("put");
    store.put_absent("b-sum", &[4000], &delta("y-broken")).expect("put");
    let lossless = PutOptions { lossless: true, ..PutOptions::default() };
    store.put_with("c-data", &[4000], &values, &lossless).expect("put");
    store.attach("c-data", Some(&delta("y-broken"))).expect("attached");
    store.close().expect("closes");
    let file = segments(&folder.join("s")).remove(0);
    flip(&file, place_of(&file, "y-broken") + 2000);
    let (found, _) = refusal(folder, &["salvage", "s", "new", "--json"]);
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let lost: Vec<&str> =
        found["lost"].as_array().expect("a list").iter().filter_map(|loss| loss["id"].as_str()).collect();
    assert_eq!(lost, ["b-sum", "y-broken"]);
    for id in ["z-base", "a-sum"] {
        assert_eq!(json(folder, &["get", "s", id]), json(folder, &["get", "new", id]));
    }
    // The base is lost, so the data is the only copy and must not be evicted.
    let about = json(folder, &["stat", "new", "c-data"]);
    assert_eq!(
        (about["reconstructable"].as_bool(), about["provenance"]["tier"].as_str()),
        (Some(false), Some(Tier::Lossless.name()))
    );
    assert_eq!(bitgrain(folder, &["verify", "new"]).status.code(), Some(0));
}
