//! The Python package: its wheel built, installed beside the oracles, and tested there.

use std::fs;

use crate::error::TaskError;
use crate::oracles::Oracles;

/// Path of the package.
const FOLDER: &str = "bindings/python";

/// Builds the wheel with a Cargo profile, installs it, and runs its tests, its types and its style.
///
/// The profile `dev` is built at the optimization level of the tests and keeps debug assertions; `release` is the profile
/// that users get. The profile `test` would make `cargo rustc` build a test harness instead of a library.
///
/// # Errors
/// Returns [`TaskError::Failed`] if it does not build or one of the checks fails.
pub(crate) fn test(environment: &Oracles, profile: &str) -> Result<(), TaskError> {
    environment.module("ruff").args(["check", "--no-cache", FOLDER]).run()?;
    environment.module("ruff").args(["format", "--no-cache", "--check", FOLDER]).run()?;
    // A folder with this wheel and no other, so that pip can be told to take what is there.
    let wheels = environment.folder().join("wheel");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let manifest = format!("{FOLDER}/Cargo.toml");
    let maturin = ["build", "--quiet", "--locked", "--compatibility", "linux", "--manifest-path", &manifest];
    let build = environment.module("maturin").env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
    build.args(maturin).args(["--profile", profile, "--out"]).args([&wheels]).run()?;
    let pip = ["install", "--quiet", "--no-input", "--disable-pip-version-check", "--force-reinstall"];
    let offline = ["--no-deps", "--no-index", "bitgrain", "--find-links"];
    environment.module("pip").args(pip).args(offline).args([&wheels]).run()?;
    let settings = format!("{FOLDER}/pyproject.toml");
    environment.module("mypy").args(["--no-incremental", "--config-file", &settings, "-p", "bitgrain"]).run()?;
    environment.module("mypy.stubtest").args(["--mypy-config-file", &settings, "bitgrain._native"]).run()?;
    environment.module("pytest").args([FOLDER, "-c", &settings, "-q", "-p", "no:cacheprovider"]).run()
}
