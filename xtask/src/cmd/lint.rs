//! `cargo xtask lint`: formatting, clippy and rustdoc, with warnings as errors.

use std::io::Write;

use crate::error::TaskError;
use crate::step::Step;

/// Check formatting, clippy and rustdoc, with warnings as errors
///
/// Does not change files; `cargo fmt --all` fixes the formatting.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, out: &mut impl Write) -> Result<(), TaskError> {
    Step::cargo().args(["fmt", "--all", "--check"]).run()?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    Step::cargo().args(clippy).run()?;
    // Unpublished crates have no rendered documentation.
    let unpublished = ["bitgrain-bench", "bitgrain-fuzz", "bitgrain-python", "xtask"]
        .into_iter()
        .flat_map(|name| ["--exclude", name]);
    Step::cargo()
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace"])
        .args(unpublished)
        .args(["--no-deps", "--locked", "--document-private-items"])
        .run()?;
    writeln!(out, "no lint warnings")?;
    Ok(())
}
