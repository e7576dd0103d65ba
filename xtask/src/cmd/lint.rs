//! `cargo xtask lint`: formatting, clippy, rustdoc and other targets, with warnings as errors.

use std::io::Write;

use crate::error::TaskError;
use crate::step::Step;

/// Check formatting, clippy, rustdoc and other targets, with warnings as errors
///
/// Does not change files; `cargo fmt --all` fixes the formatting. The libraries are also checked for WebAssembly and
/// AArch64; rustup installs the standard library of these targets if it is missing.
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
    for target in OTHER_TARGETS {
        check_target(target)?;
    }
    writeln!(out, "no lint warnings")?;
    Ok(())
}

/// Targets that no test runs on here: one without files, processes and threads, and one with another instruction set.
const OTHER_TARGETS: [&str; 2] = ["wasm32-unknown-unknown", "aarch64-unknown-linux-gnu"];

/// Crates that other targets can use: no C code, no memory maps required.
const PORTABLE: [&str; 6] =
    ["bitgrain-kernels", "bitgrain-codec", "bitgrain-formats", "bitgrain-gbdt", "bitgrain-nn", "bitgrain-store"];

/// Checks the portable crates for a target. Without rustup and without the target, only a message is printed.
fn check_target(target: &str) -> Result<(), TaskError> {
    if !Step::new("rustup").args(["target", "add", target]).succeeds() {
        eprintln!("skipped {target}: `rustup target add {target}` failed");
        return Ok(());
    }
    Step::cargo()
        .env("RUSTFLAGS", "-D warnings")
        .args(["check", "--locked", "--target", target])
        .args(PORTABLE.into_iter().flat_map(|name| ["-p", name]))
        .run()
}
