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
    // The command as `cargo run` builds it: other members of the workspace enable Parquet and object storage.
    Step::cargo().args(["clippy", "-p", "bitgrain-cli", "--locked", "--", "-D", "warnings"]).run()?;
    // Unpublished crates have no rendered documentation.
    let unpublished = ["bitgrain-bench", "bitgrain-fuzz", "bitgrain-python", "bitgrain-wasm", "xtask"]
        .into_iter()
        .flat_map(|name| ["--exclude", name]);
    Step::cargo()
        .env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace"])
        .args(unpublished)
        .args(["--no-deps", "--locked", "--document-private-items"])
        .run()?;
    for (target, flags, crates) in OTHER_TARGETS {
        check_target(target, flags, crates)?;
    }
    writeln!(out, "no lint warnings")?;
    Ok(())
}

/// Targets that most tests do not run on, with compiler flags and crates: one without files, processes and threads, with and
/// without SIMD, and one with another instruction set.
const OTHER_TARGETS: [(&str, &str, &[&str]); 3] = [
    ("wasm32-unknown-unknown", "-D warnings -C target-feature=+simd128", &PORTABLE),
    ("wasm32-unknown-unknown", "-D warnings", &["bitgrain-kernels"]),
    ("aarch64-unknown-linux-gnu", "-D warnings", &PORTABLE),
];

/// Crates that other targets can use: no C code, no memory maps required.
const PORTABLE: [&str; 6] =
    ["bitgrain-kernels", "bitgrain-codec", "bitgrain-formats", "bitgrain-gbdt", "bitgrain-nn", "bitgrain-store"];

/// Checks crates for a target. Without rustup and without the target, only a message is printed.
fn check_target(target: &str, flags: &str, crates: &[&str]) -> Result<(), TaskError> {
    if !Step::new("rustup").args(["target", "add", target]).succeeds() {
        eprintln!("skipped {target}: `rustup target add {target}` failed");
        return Ok(());
    }
    Step::cargo()
        .env("RUSTFLAGS", flags)
        .args(["check", "--locked", "--target", target])
        .args(crates.iter().flat_map(|name| ["-p", name]))
        .run()
}
