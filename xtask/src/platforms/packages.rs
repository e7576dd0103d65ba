//! Installation of Debian packages.

use crate::step::Step;

/// Installs packages if this process may: as root, on a system with `apt-get`. The caller checks the result.
pub(crate) fn install(packages: &[&str]) {
    let is_root = Step::new("id").args(["-u"]).output().is_some_and(|id| id.trim() == "0");
    if !is_root || !Step::new("apt-get").args(["--version"]).succeeds() {
        return;
    }
    // Errors are not fatal: without the packages, the platform is skipped.
    let get = || Step::new("apt-get").env("DEBIAN_FRONTEND", "noninteractive");
    if let Err(error) = get().args(["update", "-qq"]).run() {
        eprintln!("{error}");
    }
    if let Err(error) = get().args(["install", "-qq", "-y", "--no-install-recommends"]).args(packages).run() {
        eprintln!("{error}");
    }
}
