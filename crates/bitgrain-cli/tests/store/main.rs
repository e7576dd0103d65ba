//! `bitgrain store`, run as a user runs it.

mod attach;
mod damage;
mod edges;
mod files;
mod frames;
mod ids;
mod input;
mod reads;
mod salvage;
mod tiers;

use std::fs;
use std::path::{Path, PathBuf};
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

/// Runs a command that must exit with 1 and returns its output and its message.
fn refusal(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr))
}

fn error(folder: &Path, arguments: &[&str]) -> String {
    let output = bitgrain(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

/// Writes an npy file of f32.
fn npy(folder: &Path, name: &str, shape: &[usize], value: impl Fn(usize) -> f32) {
    let count = shape.iter().product::<usize>();
    let mut file = bitgrain::formats::npy::f32_header(&shape.iter().map(|&axis| axis as u64).collect::<Vec<_>>());
    file.extend((0..count).flat_map(|at| value(at).to_le_bytes()));
    fs::write(folder.join(name), file).expect("written");
}

/// Returns a folder with a store of a matrix, a vector and a temporal tensor.
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

/// Lists the segment files of a store, in order of their numbers.
fn segments(store: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(store).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_segment =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("segment-"));
    let mut paths: Vec<PathBuf> = paths.filter(is_segment).collect();
    paths.sort();
    paths
}

/// Flips a bit of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("readable");
    bytes[at] ^= 0x10;
    fs::write(path, bytes).expect("written");
}

fn values(found: &Value) -> Vec<f64> {
    found["values"].as_array().expect("values").iter().map(|value| value.as_f64().expect("a number")).collect()
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn put_values_are_read_within_their_bound() {
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
fn every_command_shows_examples() {
    let folder = tempfile::tempdir().expect("a folder");
    let help = printed(folder.path(), &["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // Continuation lines of a description are indented further.
    let commands = commands.filter(|line| !line.starts_with("    "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"salvage") && commands.len() > 12, "{commands:?}");
    for command in commands.into_iter().filter(|command| *command != "help") {
        let help = printed(folder.path(), &[command, "--help"]);
        assert!(help.contains(&format!("  bitgrain store {command} ")), "{command}: {help}");
        assert!(help.contains("--json"), "{command}");
    }
}
