//! Tests of the kernels for GPUs, on the adapters of this machine or on a software adapter.

use std::path::Path;

use super::{Outcome, packages};
use crate::error::TaskError;
use crate::step::Step;

/// Contents of the tests, for the summary.
pub(super) const CONTENTS: &str = "kernels on a Vulkan adapter, and the command with the feature `gpu`";

/// Lists of drivers that the Vulkan loader reads.
const DRIVERS: [&str; 3] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"];

/// Debian packages with the loader and with lavapipe, a driver that computes on the CPU.
const PACKAGES: [&str; 2] = ["libvulkan1", "mesa-vulkan-drivers"];

/// Installs a driver if the system lacks one, then runs the tests.
///
/// # Errors
/// Returns [`TaskError::Failed`] if the tests fail.
pub(super) fn test() -> Result<Outcome, TaskError> {
    if !has_driver() {
        packages::install(&PACKAGES);
    }
    let cargo = || Step::cargo().args(["test", "--locked"]).with_fixed_cases();
    if !has_driver() {
        // The choice of an adapter and its errors need no driver.
        cargo().args(["-p", "bitgrain-gpu", "--lib"]).run()?;
        return Ok(Outcome::Skipped(format!("kernels were not run; install {} to add them", PACKAGES.join(" "))));
    }
    // One command for both crates: separately, dependencies of wgpu would have other features, and it would be compiled twice.
    let both = ["-p", "bitgrain-gpu", "-p", "bitgrain-cli", "--features", "bitgrain-cli/gpu"];
    cargo().args(both).args(["--lib", "--test", "gpu"]).run()?;
    cargo().args(both).args(["--doc"]).run()?;
    Ok(Outcome::Passed)
}

/// Returns whether there may be a driver. Metal and DX12 are parts of their systems.
fn has_driver() -> bool {
    let lists = |folder: &&str| Path::new(folder).read_dir().is_ok_and(|mut files| files.next().is_some());
    !cfg!(target_os = "linux") || DRIVERS.iter().any(lists)
}
