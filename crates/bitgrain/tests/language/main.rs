//! Comments, messages, help texts and documents follow the rules of `docs/writing.md` that a program can check.

mod markdown;
mod passage;
mod python;
mod rules;
mod rust;

use std::fs;
use std::path::{Path, PathBuf};

use passage::{Passage, Place};

/// Folders without prose of this project: build outputs, inputs of fuzzers, golden vectors.
const SKIPPED: &[&str] = &["target", "seeds", "corpus", "artifacts", "vectors", "__pycache__"];

/// Files that quote what the rules forbid.
const QUOTING: &[&str] = &["docs/writing.md", "crates/bitgrain/tests/language/"];

/// Files whose string literals are inputs of a benchmark.
const DATA: &[&str] = &["bench/src/nn/sentences.rs"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects sources and documents below `folder`.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !SKIPPED.contains(&&*name) && !name.starts_with('.') {
                collect(&path, found);
            }
        } else if path.extension().is_some_and(|kind| ["rs", "py", "pyi", "md"].iter().any(|known| kind == *known)) {
            found.push(path);
        }
    }
}

fn passages(path: &Path) -> Vec<Passage> {
    let source = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let is_test = path.components().any(|part| part.as_os_str() == "tests");
    match path.extension().and_then(|kind| kind.to_str()) {
        Some("rs") => rust::passages(&source, is_test),
        Some("md") => markdown::passages(&source),
        _ => python::passages(&source, is_test),
    }
}

#[test]
fn prose_follows_the_rules_of_writing() {
    let root = root();
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut broken = Vec::new();
    let mut count = 0;
    for path in &files {
        let name = path.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        if QUOTING.iter().any(|quoting| name.starts_with(quoting)) {
            continue;
        }
        let is_data = DATA.contains(&&*name);
        for passage in passages(path).iter().filter(|passage| !is_data || passage.place != Place::Literal) {
            count += 1;
            let findings = rules::check(passage).into_iter();
            broken.extend(findings.map(|finding| format!("{name}:{}: {finding}: {}", passage.line, passage.text)));
        }
    }
    assert!(count > 10_000, "only {count} passages found");
    assert!(broken.is_empty(), "{} violations of docs/writing.md:\n{}", broken.len(), broken.join("\n"));
}
