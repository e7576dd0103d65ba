//! The Python package: builds its wheel, installs it into the environment of the oracles, and tests it there.

use std::fs;

use crate::error::TaskError;
use crate::oracles::Oracles;

/// Path of the package.
const FOLDER: &str = "bindings/python";

/// Builds the wheel with a Cargo profile, installs it, and runs its tests, type checks and lints.
///
/// The profile `dev` has the optimization level of the tests and keeps debug assertions; `dist` is the profile that
/// users get. With the profile `test`, `cargo rustc` would build a test harness instead of a library.
///
/// # Errors
/// Returns [`TaskError::Failed`] if the build or a check fails.
pub(crate) fn test(environment: &Oracles, profile: &str) -> Result<(), TaskError> {
    environment.module("ruff").args(["check", "--no-cache", FOLDER]).run()?;
    environment.module("ruff").args(["format", "--no-cache", "--check", FOLDER]).run()?;
    // An empty folder, so that it contains only this wheel when pip installs from it.
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
