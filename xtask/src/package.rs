//! The Python package: built as its users build it, installed beside the oracles, and tested there.

use crate::error::TaskError;
use crate::oracles::Oracles;

/// Where it is.
const FOLDER: &str = "bindings/python";

/// Builds the wheel in release mode, installs it, and runs its tests, its types and its style.
///
/// # Errors
/// [`TaskError::Failed`] if it does not build or one of them says no.
pub(crate) fn test(environment: &Oracles) -> Result<(), TaskError> {
    // What the build needs is in the environment already, in versions that do not change over night.
    let quiet = ["install", "--quiet", "--no-input", "--disable-pip-version-check", "--force-reinstall"];
    environment.module("pip").args(quiet).args(["--no-build-isolation", "--no-deps", FOLDER]).run()?;
    environment.module("ruff").args(["check", "--no-cache", FOLDER]).run()?;
    environment.module("ruff").args(["format", "--no-cache", "--check", FOLDER]).run()?;
    let settings = format!("{FOLDER}/pyproject.toml");
    environment.module("mypy").args(["--no-incremental", "--config-file", &settings, "-p", "bitgrain"]).run()?;
    environment.module("mypy.stubtest").args(["--mypy-config-file", &settings, "bitgrain._native"]).run()?;
    environment.module("pytest").args([FOLDER, "-c", &settings, "-q", "-p", "no:cacheprovider"]).run()
}
