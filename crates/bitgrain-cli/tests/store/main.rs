//! The store as a user of the command meets it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn bitgrain(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    command.current_dir(folder).arg("store").args(arguments).output().expect("the binary runs")
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = bitgrain(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&printed(folder, &arguments)).expect("JSON")
}

fn error(folder: &Path, arguments: &[&str]) -> String {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// An npy file of f32.
fn npy(folder: &Path, name: &str, shape: &[usize], value: impl Fn(usize) -> f32) {
    let count = shape.iter().product::<usize>();
    let mut file = bitgrain::formats::npy::f32_header(&shape.iter().map(|&axis| axis as u64).collect::<Vec<_>>());
    file.extend((0..count).flat_map(|at| value(at).to_le_bytes()));
    fs::write(folder.join(name), file).expect("written");
}

/// A folder with a store of a matrix, a vector and a temporal tensor.
fn folder() -> tempfile::TempDir {
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path();
    npy(folder, "m.npy", &[100, 64], |at| (at as f32 * 0.37).sin());
    npy(folder, "v.npy", &[1000], |at| (at as f32 * 0.11).cos());
    npy(folder, "frames.npy", &[50, 20], |at| 290.0 + (at as f32 * 0.01).sin());
    printed(folder, &["init", "s"]);
    printed(folder, &["put", "s", "m", "m.npy"]);
    printed(folder, &["import", "s", "v.npy", "--prefix", "in/"]);
    printed(folder, &["append", "s", "room", "frames.npy"]);
    temporary
}

fn values(found: &Value) -> Vec<f64> {
    found["values"].as_array().expect("values").iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[test]
fn what_was_put_comes_back_within_its_bound() {
    let folder = folder();
    let found = json(folder.path(), &["get", "s", "m"]);
    let bound = found["provenance"]["bound"].as_f64().expect("a bound");
    assert!(bound < 0.005 && found["provenance"]["bits"] == 8);
    for (at, value) in values(&found).into_iter().enumerate() {
        assert!((value - f64::from((at as f32 * 0.37).sin())).abs() <= bound, "{at}");
    }
    let rows = json(folder.path(), &["get", "s", "m", "--rows", "3..5"]);
    assert_eq!(rows["shape"], serde_json::json!([2, 64]));
    assert_eq!(values(&rows)[..], values(&found)[192..320]);
}

#[test]
fn frames_come_back_as_an_axis() {
    let folder = folder();
    let found = json(folder.path(), &["get", "s", "room", "--frames", "10..13"]);
    assert_eq!(found["shape"], serde_json::json!([3, 20]));
    let bound = found["provenance"]["bound"].as_f64().expect("a bound");
    for (at, value) in values(&found).into_iter().enumerate() {
        assert!((value - f64::from(290.0 + ((200 + at) as f32 * 0.01).sin())).abs() <= bound, "{at}");
    }
    assert!(error(folder.path(), &["get", "s", "m", "--frames", "0..1"]).contains("has no frames"));
}

#[test]
fn files_go_out_and_in_again() {
    let folder = folder();
    let folder = folder.path();
    for file in ["all.npz", "all.safetensors"] {
        let found = json(folder, &["export", "s", file]);
        assert_eq!(found["exported"], 3);
        let other = format!("from-{file}");
        printed(folder, &["init", &other]);
        assert_eq!(json(folder, &["import", &other, file])["imported"], 3);
        assert_eq!(json(folder, &["get", &other, "in/v"])["shape"], serde_json::json!([1000]));
    }
    printed(folder, &["get", "s", "in/v", "-o", "v.parquet"]);
    printed(folder, &["put", "s", "back", "v.parquet"]);
    assert_eq!(json(folder, &["stat", "s", "back"])["shape"], serde_json::json!([1000]));
    assert!(error(folder, &["export", "s", "all.npy"]).contains("takes one tensor, there are"));
    assert!(error(folder, &["export", "s", "all.parquet"]).contains("another shape"));
    assert!(error(folder, &["export", "s", "all.txt"]).contains("ends in .npy"));
    assert!(!folder.join("all.npy").exists() && !folder.join("all.txt").exists());
}

#[test]
fn idle_tensors_step_down_and_pins_hold() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["pin", "s", "m", "hot"]);
    let created = json(folder, &["stat", "s", "m"])["created"].as_u64().expect("a time");
    let later = (created + 3 * 3_600_000).to_string();
    let plan = json(folder, &["tick", "s", "--now", &later, "--dry-run"]);
    let done = json(folder, &["tick", "s", "--now", &later]);
    assert_eq!(plan["moves"], done["moves"]);
    let moved: Vec<&str> =
        done["moves"].as_array().expect("moves").iter().filter_map(|step| step["id"].as_str()).collect();
    assert_eq!(moved, ["in/v"]);
    let stats = json(folder, &["stat", "s"]);
    assert_eq!((stats["tiers"][2]["tier"].as_str(), stats["tiers"][2]["tensors"].as_u64()), (Some("warm"), Some(1)));
    let before = stats["file_bytes"].as_u64().expect("bytes");
    printed(folder, &["compact", "s", "--all"]);
    assert!(json(folder, &["stat", "s"])["file_bytes"].as_u64().expect("bytes") < before);
}

#[test]
fn a_flipped_bit_is_found_and_named() {
    let folder = folder();
    let folder = folder.path();
    printed(folder, &["compact", "s", "--all"]);
    assert!(printed(folder, &["verify", "s"]).contains("all is as it was written"));
    let segments: Vec<_> = fs::read_dir(folder.join("s"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("segment-")))
        .collect();
    let largest = segments.iter().max_by_key(|path| fs::metadata(path).map_or(0, |about| about.len())).expect("one");
    let mut bytes = fs::read(largest).expect("readable");
    let middle = bytes.len() / 4;
    bytes[middle] ^= 0x10;
    fs::write(largest, bytes).expect("written");
    let output = bitgrain(folder, &["verify", "s"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(said.contains("segment-") && String::from_utf8_lossy(&output.stderr).contains("damaged"), "{said}");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "nan.npy", &[3], |at| if at == 1 { f32::NAN } else { 1.0 });
    assert!(error(folder, &["put", "s", "n", "nan.npy"]).contains("index 1"));
    printed(folder, &["put", "s", "n", "nan.npy", "--non-finite", "zero"]);
    assert!(error(folder, &["get", "s", "nothing"]).contains("no tensor is called nothing"));
    assert!(error(folder, &["get", "elsewhere", "m"]).contains("elsewhere"));
    assert!(error(folder, &["put", "s", "", "v.npy"]).contains("at least one character"));
    assert!(error(folder, &["put", "s", "x", "v.npy", "--tier", "tepid"]).contains("is no tier"));
    assert!(error(folder, &["append", "s", "room", "v.npy", "--one"]).contains("frames of this tensor have 20 values"));
    assert!(error(folder, &["get", "s", "m", "--rows", "90..200"]).contains("100"));
    printed(folder, &["put", "s", "#7", "v.npy"]);
    assert!(json(folder, &["ls", "s"]).as_array().expect("a list").iter().any(|tensor| tensor["id"] == "#7"));
    printed(folder, &["rm", "s", "#7", "n"]);
    assert!(error(folder, &["rm", "s", "#7"]).contains("no tensor is called #7"));
}

#[test]
fn data_that_is_gone_is_not_written_as_zeros() {
    let folder = folder();
    let folder = folder.path();
    let config = bitgrain::store::StoreConfig::default();
    let store = bitgrain::store::TensorStore::open(folder.join("s"), config).expect("opens");
    let created = store.meta("m").expect("there").created;
    // Days later: all the way down.
    for hours in [4, 14, 60] {
        store.tick(created + hours * 3_600_000).expect("ticks");
    }
    store.close().expect("closes");
    assert!(error(folder, &["get", "s", "m", "-o", "m2.npy"]).contains("is gone"));
    assert!(!folder.join("m2.npy").exists());
    let found = json(folder, &["export", "s", "all.npz"]);
    assert_eq!((found["exported"].as_u64(), found["left_out"].as_u64()), (Some(1), Some(2)));
}

#[test]
fn frames_are_appended_all_or_none() {
    let folder = folder();
    let folder = folder.path();
    npy(folder, "bad.npy", &[5, 20], |at| if at == 50 { f32::INFINITY } else { 290.0 });
    error(folder, &["append", "s", "room", "bad.npy"]);
    assert_eq!(json(folder, &["stat", "s", "room"])["frames"], 50);
    assert!(error(folder, &["rm", "s", "m", "nothing"]).contains("nothing"));
    printed(folder, &["get", "s", "m"]);
    assert!(error(folder, &["tick", "s", "--now", "99999999999999"]).contains("never goes back in time"));
}
