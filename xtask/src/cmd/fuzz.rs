//! `cargo xtask fuzz`: one fuzz target for a limited time, on a stable toolchain.

use std::fs;
use std::io;
use std::path::Path;

use crate::error::TaskError;
use crate::step::{Step, root};

/// Fuzz one target for a while, under the address sanitizer
///
/// Installs cargo-fuzz if it is not there. Starts from fuzz/seeds/<TARGET>/, if there are any. What crashes is kept in
/// fuzz/artifacts/<TARGET>/, what was learnt in fuzz/corpus/<TARGET>/, from where the next run goes on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Target: the name of a file in fuzz/fuzz_targets/
    #[arg(default_value = "decode_blocks")]
    target: String,
    /// Seconds to fuzz for, after the build
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    known_target(&args.target)?;
    if !Step::cargo().args(["fuzz", "--version"]).succeeds() {
        Step::cargo().args(["install", "--locked", "cargo-fuzz"]).run()?;
    }
    let corpus = corpus(&args.target)?;
    Step::cargo()
        // Sanitizers are unstable flags: this lets a stable compiler take them.
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["fuzz", "run", args.target.as_str()])
        .args(corpus)
        .args(["--"])
        .args([format!("-max_total_time={}", args.seconds)])
        .run()
}

/// # Errors
/// [`TaskError::UnknownTarget`] with the names there are, because cargo-fuzz would only say that the build failed.
fn known_target(asked: &str) -> Result<(), TaskError> {
    let folder = root().join("fuzz/fuzz_targets");
    let known = targets(&folder).map_err(|source| TaskError::Unreadable { path: folder, source })?;
    if known.iter().any(|name| name == asked) {
        Ok(())
    } else {
        Err(TaskError::UnknownTarget { asked: asked.into(), known })
    }
}

/// Folders of inputs, from the root: the one that new inputs are put into, and the one that is kept with the sources.
fn corpus(target: &str) -> Result<Vec<String>, TaskError> {
    let learnt = format!("fuzz/corpus/{target}");
    let path = root().join(&learnt);
    fs::create_dir_all(&path).map_err(|source| TaskError::Unreadable { path, source })?;
    let seeds = format!("fuzz/seeds/{target}");
    let kept = root().join(&seeds).is_dir().then_some(seeds);
    Ok([learnt].into_iter().chain(kept).collect())
}

/// The stems of the Rust files in `folder`, sorted.
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

    #[test]
    fn the_default_target_exists() {
        assert!(known_target("decode_blocks").is_ok());
    }

    #[test]
    fn an_unknown_target_is_answered_with_those_there_are() {
        let message = known_target("../nothing").expect_err("no such file").to_string();
        assert!(message.contains("`../nothing`") && message.contains("decode_blocks"), "{message}");
    }
}
