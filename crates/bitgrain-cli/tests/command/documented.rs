//! Runs every command in the help, the README and the guides.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::{copy, fill};
use crate::subcommands::{help, subcommands};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_command(line: &str) -> bool {
    line.starts_with("bitgrain ") || line.contains("| bitgrain ")
}

/// Returns the commands below `Examples:`, without the explanations next to them.
fn of_help(words: &[&str]) -> Vec<String> {
    let text = help(words);
    let examples = ["Examples:\n", "Example:\n"].iter().find_map(|heading| text.split_once(heading));
    let (_, examples) = examples.unwrap_or_else(|| panic!("{words:?} shows an example"));
    let mut commands: Vec<String> = Vec::new();
    for line in examples.lines().take_while(|line| !line.is_empty()).map(str::trim) {
        match commands.last_mut() {
            // Continuation of a wrapped line.
            Some(last) if !is_command(line) => *last = format!("{last} {line}"),
            _ => commands.push(line.to_owned()),
        }
    }
    let bare = |command: String| command.split("   ").next().unwrap_or_default().to_owned();
    commands.into_iter().map(bare).collect()
}

/// Returns the commands in the shell blocks of a page.
fn of_page(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a page");
    let (mut inside, mut commands) = (false, Vec::new());
    for line in text.lines() {
        inside = if line.starts_with("```") { line == "```sh" } else { inside };
        if inside && is_command(line) {
            commands.push(line.to_owned());
        }
    }
    commands
}

/// Returns whether a command needs a language model or its text. The fixture lacks both; `tests/models/language.rs` and the
/// oracles run such commands.
fn needs_language_model(command: &str) -> bool {
    let commands = ["generate", "perplexity", "imatrix"].map(|name| format!("bitgrain {name} "));
    let mixes = ["_M", "_S", "mix:", "model-00001-of-", "folder/", "SmolLM2", "llama/"];
    commands.iter().any(|start| command.starts_with(start))
        || command.starts_with("bitgrain quantize ") && mixes.iter().any(|part| command.contains(part))
        || command.starts_with("bitgrain compare llama/")
        || ["model-f16.gguf", "model-q4_k.gguf", " --text "].iter().any(|name| command.contains(name))
}

/// Runs the commands of a page in order, in a copy of the fixture, except those in `done`, which ran for another page.
fn run_page(name: &str, commands: &[String], fixture: &Path, done: &mut BTreeSet<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    copy(fixture, folder.path());
    // Remove the stores that the page creates.
    for store in commands.iter().filter_map(|command| command.strip_prefix("bitgrain store init ")) {
        let _ = fs::remove_dir_all(folder.path().join(store.split(' ').next().unwrap_or_default()));
    }
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).expect("writable");
    fs::write(tools.join("jq"), "#!/bin/sh\nexec cat\n").expect("writable");
    // A link, not a copy: another thread may inherit the file as open for writing, and then it cannot be executed.
    symlink(env!("CARGO_BIN_EXE_bitgrain"), tools.join("bitgrain")).expect("linked");
    let paths = std::env::var("PATH").unwrap_or_default();
    for command in commands {
        // The tour is slow and needs no files: each form runs once, and the longest in `tests/cli.rs`.
        let is_tour = command.starts_with("bitgrain tour");
        if is_tour && (command == "bitgrain tour --json" || !done.insert(command.clone())) {
            continue;
        }
        // Addresses need a server; `oracles/test_remote.py` runs these commands.
        if command.contains("s3://") {
            continue;
        }
        if needs_language_model(command) || command.starts_with("bitgrain bin ") || command.contains(".bins") {
            continue;
        }
        // `salvage` needs a destination that does not exist.
        let _ = fs::remove_dir_all(folder.path().join("rescued.store"));
        let mut shell = Command::new("sh");
        let shell = shell.arg("-c").arg(format!("chmod +x tools/jq; set -e; {command}"));
        let shell = shell.current_dir(folder.path()).env("HOME", folder.path());
        let output = shell.env("PATH", format!("{}:{paths}", tools.display())).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("error"), "{name}: {command}\n{said}");
    }
}

#[test]
fn every_documented_command_runs() {
    let fixture = tempfile::tempdir().expect("a folder");
    fill(fixture.path());
    let mut done = BTreeSet::new();
    let mut count = 0;
    let folders = ["docs/guide", "docs/coming-from"].map(|folder| fs::read_dir(root().join(folder)).expect("guides"));
    let guides = folders.into_iter().flatten().map(|entry| entry.expect("readable").path());
    for page in guides.chain(["README.md", "docs/README.md", "bindings/python/README.md"].map(|page| root().join(page)))
    {
        let commands = of_page(&page);
        count += commands.len();
        run_page(&page.display().to_string(), &commands, fixture.path(), &mut done);
    }
    assert!(count > 60, "{count} commands in shell blocks");
    let mut pages: Vec<Vec<String>> = subcommands();
    pages.extend([vec![], vec!["store".to_owned()]]);
    for words in pages {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let commands = of_help(&words);
        assert!(!commands.is_empty(), "{words:?}");
        run_page(&format!("{words:?} --help"), &commands, fixture.path(), &mut done);
    }
}
