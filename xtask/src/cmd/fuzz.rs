//! `cargo xtask fuzz`: runs fuzz targets for a limited time each, on a stable toolchain.

mod outcome;
mod record;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::outcome::Outcome;
use self::record::Record;
use crate::error::TaskError;
use crate::step::{Step, root};

/// Run fuzz targets in sequence, with AddressSanitizer
///
/// Installs cargo-fuzz if it is missing. A target starts from the inputs in fuzz/seeds/<TARGET>/ and in
/// fuzz/corpus/<TARGET>/, where it also keeps new ones. Inputs that crash a target, take longer than 10 seconds or
/// allocate more than 256 MiB are kept in fuzz/artifacts/<TARGET>/; the exit code is then 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Targets: names of files in fuzz/fuzz_targets/ [default: decode_blocks]
    targets: Vec<String>,
    /// Fuzz every target
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Seconds per target, after the build
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// JSON file whose entries of the fuzzed targets are updated
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    let targets = chosen(args)?;
    if !Step::cargo().args(["fuzz", "--version"]).succeeds() {
        Step::cargo().args(["install", "--locked", "cargo-fuzz"]).run()?;
    }
    // Build all targets first, so that a compile error is reported at once.
    for target in &targets {
        cargo_fuzz("build").args([target]).run()?;
    }
    let mut findings = Vec::new();
    for target in targets {
        let outcome = fuzz(&target, args.seconds)?;
        if let Some(path) = &args.record {
            let command = format!("cargo xtask fuzz {target} --seconds {}", args.seconds);
            Record::update(path, &target, &outcome, &command)?;
        }
        if outcome.findings > 0 {
            findings.push(target);
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(TaskError::FuzzFindings { targets: findings }) }
}

/// Runs one target, which has been built.
fn fuzz(target: &str, seconds: u32) -> Result<Outcome, TaskError> {
    let artifacts = root().join("fuzz/artifacts").join(target);
    let before = count(&artifacts);
    let mut outcome = Outcome::default();
    let step = cargo_fuzz("run")
        .args([target])
        .args(corpus(target)?)
        .args(["--", "-print_final_stats=1", "-timeout=10", "-malloc_limit_mb=256"])
        .args([format!("-max_total_time={seconds}")]);
    let ended = step.run_with_errors(|line| outcome.take(line));
    outcome.findings = count(&artifacts).saturating_sub(before);
    outcome.corpus_files = count(&root().join("fuzz/corpus").join(target));
    match ended {
        // libFuzzer's exit code for a finding. Without an input, the fuzzer itself failed.
        Err(TaskError::Failed { .. }) if outcome.findings > 0 => Ok(outcome),
        ended => ended.map(|()| outcome),
    }
}

fn cargo_fuzz(command: &str) -> Step {
    Step::cargo()
        // Sanitizers are unstable flags, which this variable enables in a stable compiler.
        .env("RUSTC_BOOTSTRAP", "1")
        // Link-time optimization takes longer than it saves.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "2")
        .args(["fuzz", command])
}

/// # Errors
/// Returns [`TaskError::UnknownTarget`] with the known names, because cargo-fuzz would only report a failed build.
fn chosen(args: &Args) -> Result<Vec<String>, TaskError> {
    let folder = root().join("fuzz/fuzz_targets");
    let known = targets(&folder).map_err(|source| TaskError::Unreadable { path: folder, source })?;
    if args.all {
        return Ok(known);
    }
    if args.targets.is_empty() {
        return Ok(vec!["decode_blocks".to_owned()]);
    }
    match args.targets.iter().find(|asked| !known.contains(asked)) {
        Some(asked) => Err(TaskError::UnknownTarget { asked: asked.clone(), known }),
        None => Ok(args.targets.clone()),
    }
}

/// Returns the input folders, from the root: first the one for new inputs, then the committed seeds.
fn corpus(target: &str) -> Result<[String; 2], TaskError> {
    let folders = ["corpus", "seeds"].map(|kind| format!("fuzz/{kind}/{target}"));
    for folder in &folders {
        let path = root().join(folder);
        fs::create_dir_all(&path).map_err(|source| TaskError::Unreadable { path, source })?;
    }
    Ok(folders)
}

/// Counts the files in a folder; 0 if it does not exist.
fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Returns the stems of the Rust files in `folder`, sorted.
fn targets(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(targets: &[&str], all: bool) -> Result<Vec<String>, TaskError> {
        let targets = targets.iter().map(|target| (*target).to_owned()).collect();
        chosen(&Args { targets, all, seconds: 1, record: None })
    }

    #[test]
    fn the_default_target_is_one_of_all() {
        let default = asked(&[], false).expect("a default");
        assert!(asked(&[], true).expect("all").contains(&default[0]));
        assert_eq!(asked(&["decode_blocks"], false).expect("known"), default);
    }

    #[test]
    fn the_error_for_an_unknown_target_lists_the_targets() {
        let message = asked(&["parse_gguf", "../nothing"], false).expect_err("no such file").to_string();
        assert!(message.contains("`../nothing`") && message.contains("decode_blocks"), "{message}");
    }
}
