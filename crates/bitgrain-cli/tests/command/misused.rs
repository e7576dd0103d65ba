//! Missing, empty and invalid inputs, outputs that cannot be written, and closed pipes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::fixture::{copy, fill};
use crate::subcommands::subcommands;

/// Commands that succeed on the fixture. Arguments in braces are inputs, arguments in brackets outputs.
const ROWS: [&str; 47] = [
    "inspect {model.gguf}",
    "inspect {houses.csv}",
    "inspect {houses.bitgrain} --json",
    "train {houses.csv} --target price --rounds 2 --model [new.bitgrain]",
    "train houses.csv --target price --rounds 2 --model [new.json] --valid {data.csv}",
    "train houses.csv --target price --rounds 2 --model [new.bitgrain] --continue {houses.bitgrain}",
    "train {search.csv} --target relevance --group query --rounds 2 --model [new.bitgrain] --valid {search.csv}",
    "train houses.csv --target price --rounds 2 --model new.bitgrain --valid data.csv --report [report.html]",
    "bin {houses.csv} --target price -o [houses.bins]",
    "predict {houses.bitgrain} {data.csv}",
    "predict houses.bitgrain data.csv -o [out.csv]",
    "predict houses.bitgrain data.csv -o [out.parquet]",
    "explain {houses.bitgrain} {data.csv} --background {houses.csv}",
    "explain houses.bitgrain data.csv -o [out.csv]",
    "explain {houses.bitgrain} {data.csv} --partial area,rooms --grid 3",
    "explain houses.bitgrain data.csv --partial area --ice -o [out.csv]",
    "explain {houses.bitgrain} {data.csv} --permutation --target price",
    "cv {houses.csv} --target price --rounds 2",
    "refit {houses.bitgrain} {houses.csv} --target price -o [refitted.bitgrain]",
    "convert-model {houses.bitgrain} [other.json]",
    "convert-model {houses.bitgrain} [other.onnx] --format onnx",
    "quantize {model.gguf} [out.gguf] --to q4_k",
    "quantize {model.safetensors} [out.safetensors] --to int8 --json",
    "quantize model.safetensors [out.safetensors.index.json] --to int8 --shard-size 1kB",
    "quantize model.gguf [out.gguf] --plan {plan.json}",
    "quantize model.gguf [out.gguf] --to q4_k --imatrix {imatrix.safetensors}",
    "compare {model.safetensors} {small.safetensors}",
    "compare a.gguf b.gguf --report [report.html]",
    "embed {all-MiniLM-L6-v2} dog dogs --json",
    "embed all-MiniLM-L6-v2 --file {lines.txt}",
    "embed all-MiniLM-L6-v2 --file lines.txt -o [out.npy]",
    "tour --list",
    "info",
    "completions bash",
    "store init fresh.store",
    "store put {vectors.store} new {mean.npy}",
    "store get {vectors.store} words -o [out.npz]",
    "store get vectors.store words",
    "store search {vectors.store} --query {mean.npy} --id mean",
    "store append {sensors.store} room {readings.npy}",
    "store ls {vectors.store}",
    "store stat {vectors.store}",
    "store tick {vectors.store} --dry-run",
    "store verify {vectors.store}",
    "store import {vectors.store} {embeddings.npz} --prefix in/",
    "store export {vectors.store} [out.safetensors]",
    "store compact {vectors.store}",
];

/// Commands that print at most one line, and whose files the rows above cover.
const OTHERS: [&str; 5] = [
    "store pin {vectors.store} mean hot",
    "store attach {vectors.store} half --source words --scale 0.5",
    "store rm {vectors.store} mean",
    "store salvage {vectors.store} fresh",
    "store sync {vectors.store} fresh",
];

/// Commands whose inputs the fixture does not have: `tests/models/language.rs` tests those of language models.
const ELSEWHERE: [&str; 3] = ["generate", "perplexity", "imatrix"];

fn rows() -> impl Iterator<Item = &'static str> {
    ROWS.into_iter().chain(OTHERS)
}

fn bare(word: &str) -> &str {
    word.trim_matches(['{', '}', '[', ']'])
}

fn words(row: &str) -> Vec<String> {
    row.split(' ').map(|word| bare(word).to_owned()).collect()
}

/// Returns the row with the argument at `at` replaced.
fn with(row: &str, at: usize, other: &str) -> Vec<String> {
    let mut words = words(row);
    words[at] = other.to_owned();
    words
}

/// Returns the indices of the arguments in these brackets.
fn marked(row: &str, bracket: char) -> Vec<usize> {
    row.split(' ').enumerate().filter(|(_, word)| word.starts_with(bracket)).map(|(at, _)| at).collect()
}

fn bitgrain(folder: &Path, words: &[String], stdout: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitgrain"));
    let command = command.current_dir(folder).args(words).stdin(Stdio::null()).stdout(stdout);
    command.stderr(Stdio::piped()).spawn().expect("the binary runs").wait_with_output().expect("it ends")
}

/// Lists every path in a folder, to detect files that a command leaves behind.
fn listing(folder: &Path) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path()) {
        // A store contains a lock file.
        if entry.is_dir() && entry.extension().is_none_or(|ending| ending != "store") {
            all.extend(listing(&entry));
        }
        all.insert(entry);
    }
    all
}

/// Runs a command that must fail with one `error:` line, which mentions one of the names between `|`, and must not change
/// the folder.
fn assert_refused(folder: &Path, words: &[String], mention: &str) {
    let before = listing(folder);
    let output = bitgrain(folder, words, Stdio::piped());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}{}", String::from_utf8_lossy(&output.stdout));
    assert!(said.lines().any(|line| line.starts_with("error: ")), "{words:?}: {said}");
    let is_named = mention.split('|').any(|name| said.contains(name));
    assert!(is_named && !said.contains("panicked"), "{words:?}: {said}");
    assert_eq!(listing(folder), before, "{words:?} left something behind");
}

/// Returns a filled folder that also has an empty file and an empty folder.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path());
    fs::write(folder.path().join("empty"), "").expect("writable");
    fs::create_dir(folder.path().join("nothing")).expect("writable");
    folder
}

#[test]
fn the_rows_cover_every_subcommand_and_succeed() {
    for command in subcommands() {
        let covered = rows().any(|row| words(row).starts_with(&command)) || ELSEWHERE.contains(&command[0].as_str());
        assert!(covered, "{command:?} has no row in this table");
    }
    let fixture = folder();
    for row in rows() {
        let folder = tempfile::tempdir().expect("a folder");
        copy(fixture.path(), folder.path());
        let output = bitgrain(folder.path(), &words(row), Stdio::piped());
        assert!(output.status.success(), "{row}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn missing_empty_and_directory_inputs_are_rejected() {
    let folder = folder();
    for row in rows() {
        for at in marked(row, '{') {
            for other in ["missing", "empty", "nothing", "-"] {
                // For `embed --file`, `-` is standard input, and an empty file has zero lines.
                let is_lines = row.contains("--file {");
                let is_query = other == "-" && row.contains("--query {") && marked(row, '{').last() == Some(&at);
                if !(is_lines && ["-", "empty"].contains(&other)) {
                    let mention = match other {
                        "-" if is_query => "standard input is empty",
                        "-" => "-|standard input",
                        _ => other,
                    };
                    assert_refused(folder.path(), &with(row, at, other), mention);
                }
            }
        }
    }
}

#[test]
fn unwritable_outputs_are_rejected_and_leave_no_files() {
    let folder = folder();
    let path = folder.path();
    for row in rows() {
        for at in marked(row, '[') {
            let name = words(row)[at].clone();
            fs::create_dir(path.join(&name)).expect("writable");
            assert_refused(path, &with(row, at, &name), &name);
            fs::remove_dir(path.join(&name)).expect("as it was");
            assert_refused(path, &with(row, at, &format!("houses.csv/{name}")), &name);
            assert_refused(path, &with(row, at, &format!("missing/{name}")), &name);
            #[cfg(target_os = "linux")]
            {
                // A file system in which files cannot be created.
                assert_refused(path, &with(row, at, &format!("/proc/{name}")), "/proc/");
                std::os::unix::fs::symlink("/dev/full", path.join(&name)).expect("a link");
                assert_refused(path, &with(row, at, &name), &name);
                fs::remove_file(path.join(&name)).expect("as it was");
            }
        }
    }
}

#[test]
fn a_closed_pipe_is_success_for_every_command() {
    let fixture = folder();
    let help = subcommands().into_iter().map(|words| words.join(" ") + " --help").chain(["--help".to_owned()]);
    for row in rows().map(str::to_owned).chain(help) {
        let folder = tempfile::tempdir().expect("a folder");
        copy(fixture.path(), folder.path());
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = bitgrain(folder.path(), &words(&row), writer.into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("error") && !said.contains("panicked"), "{row}: {said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error_for_every_command() {
    let fixture = folder();
    let help = subcommands().into_iter().map(|words| words.join(" ") + " --help").chain(["--help".to_owned()]);
    for row in rows().map(str::to_owned).chain(help) {
        let folder = tempfile::tempdir().expect("a folder");
        copy(fixture.path(), folder.path());
        let printed = bitgrain(folder.path(), &words(&row), Stdio::piped()).stdout;
        if printed.is_empty() {
            continue;
        }
        fs::remove_dir_all(folder.path()).expect("ours");
        copy(fixture.path(), folder.path());
        let full = File::options().write(true).open("/dev/full").expect("a device");
        let output = bitgrain(folder.path(), &words(&row), full.into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{row}: {said}");
        assert!(said.contains("No space left") && !said.contains("panicked"), "{row}: {said}");
    }
}
