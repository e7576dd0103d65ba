//! Compilers for other targets: the active toolchain, or Debian's compiler with the source of its standard library.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::step::{Step, target};

/// A compiler with the standard library of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The toolchain that runs this program; it has the compiled standard library.
    Active,
    /// Debian's compiler, which compiles the standard library from its source. Takes about two CPU minutes more.
    Debian,
}

impl Toolchain {
    /// Debian packages of [`Toolchain::Debian`].
    pub(crate) const PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];

    /// Returns a toolchain for a target, or `None` if neither is installed.
    pub(crate) fn find(triple: &str) -> Option<Self> {
        if active_has(triple) {
            return Some(Self::Active);
        }
        // The package has no fixed path; the compiler knows where its source is.
        let library = Step::new("/usr/bin/rustc").args(["--print", "sysroot"]).output()?;
        let source = Path::new(library.trim()).join("lib/rustlib/src/rust/library/std");
        let has_cargo = Step::new("/usr/bin/cargo").args(["--version"]).succeeds();
        (has_cargo && source.exists()).then_some(Self::Debian)
    }

    /// Returns a step that runs cargo with this toolchain.
    ///
    /// # Errors
    /// Returns [`TaskError::Output`] if the target folder is unknown.
    pub(crate) fn cargo(self) -> Result<Step, TaskError> {
        if self == Self::Active {
            return Ok(Step::cargo());
        }
        let folder = self.folder()?;
        Ok(Step::new("/usr/bin/cargo")
            .env("PATH", "/usr/bin:/bin")
            .env("RUSTC", "/usr/bin/rustc")
            // `-Zbuild-std` is not stable.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_DIR", &folder.to_string_lossy()))
    }

    /// Returns cargo's target folder with this toolchain.
    ///
    /// # Errors
    /// Returns [`TaskError::Output`] if the target folder is unknown.
    pub(crate) fn folder(self) -> Result<PathBuf, TaskError> {
        // Another compiler version would rebuild everything in the common folder.
        if self == Self::Active { target() } else { Ok(target()?.join("debian")) }
    }

    /// Returns the last arguments of every cargo command.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Active => &[],
            Self::Debian => &["-Zbuild-std"],
        }
    }
}

/// Returns whether the active toolchain has the compiled standard library of a target.
fn active_has(triple: &str) -> bool {
    let libraries = Step::new("rustc").args(["--print", "target-libdir", "--target", triple]).output();
    let files = libraries.and_then(|folder| fs::read_dir(folder.trim()).ok());
    files.is_some_and(|mut files| files.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_toolchain_has_a_target_that_does_not_exist() {
        assert!(!active_has("pdp11-unknown-unix"));
    }
}
