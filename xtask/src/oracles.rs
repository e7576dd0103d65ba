//! The foreign oracles: a virtual environment with other people's libraries, and the tests that hold ours against them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::python::Python;
use crate::step::{Step, root};

/// What the environment holds, by exact versions.
const REQUIREMENTS: &str = "oracles/requirements.txt";

/// The same, for packages whose own requirements are left out.
const MODELS: &str = "oracles/models.txt";

/// A virtual environment that holds what `oracles/requirements.txt` asks for.
#[derive(Debug)]
pub(crate) struct Oracles {
    folder: PathBuf,
    python: PathBuf,
    /// The command under test, where cargo puts programs of the profiles `dev` and `test`.
    command: PathBuf,
}

impl Oracles {
    /// Makes the environment in cargo's target folder, unless the one there was made from the same requirements.
    ///
    /// # Errors
    /// [`TaskError::NoOracles`] if it cannot be made, [`TaskError::Unreadable`].
    pub(crate) fn set_up(python: Python) -> Result<Self, TaskError> {
        let built = built()?;
        let folder = built.with_file_name("oracles");
        let wanted = wanted()?;
        let oracles = Self {
            folder: folder.clone(),
            python: folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }),
            command: built.join(format!("bitgrain{}", env::consts::EXE_SUFFIX)),
        };
        // Written last, so that an environment that was given up half-way is made again.
        let stamp = folder.join("made-from.txt");
        if !is_made_from(&stamp, &wanted) || !Step::new(&oracles.python).args(["--version"]).succeeds() {
            let failed = |source| TaskError::NoOracles { source: Box::new(source) };
            python.module("venv").args(["--clear"]).args([&folder]).run().map_err(failed)?;
            let install = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "-r"];
            Step::new(&oracles.python).args(install).args([REQUIREMENTS]).run().map_err(failed)?;
            Step::new(&oracles.python).args(install).args([MODELS, "--no-deps"]).run().map_err(failed)?;
            fs::write(&stamp, &wanted)?;
        }
        Ok(oracles)
    }

    /// The folder of the environment, in cargo's target folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A step that runs a module of the environment's Python.
    pub(crate) fn module(&self, name: &str) -> Step {
        let programs = self.python.parent().unwrap_or(Path::new("."));
        // Nothing is left behind in the checkout.
        Step::new(&self.python).path_from(programs).env("PYTHONDONTWRITEBYTECODE", "1").args(["-m", name])
    }

    /// The step that runs every oracle on the command, which must be built with the profile `test`.
    pub(crate) fn step(&self) -> Step {
        let command = self.command.to_string_lossy();
        self.module("pytest").env("BITGRAIN", &command).args(["oracles", "-q", "-p", "no:cacheprovider"])
    }
}

/// Everything that is asked for.
fn wanted() -> Result<Vec<u8>, TaskError> {
    let read = |file: &str| {
        let path = root().join(file);
        fs::read(&path).map_err(|source| TaskError::Unreadable { path, source })
    };
    Ok([read(REQUIREMENTS)?, read(MODELS)?].concat())
}

/// The folder that holds this program, and beside it the others that cargo builds for tests.
fn built() -> Result<PathBuf, TaskError> {
    let program = env::current_exe()?;
    Ok(program.parent().unwrap_or(Path::new(".")).to_owned())
}

fn is_made_from(stamp: &Path, wanted: &[u8]) -> bool {
    fs::read(stamp).is_ok_and(|made| made == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_one_exact_version() {
        let text = String::from_utf8(wanted().expect("it is in the repository")).expect("text");
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        // What follows a semicolon says on which systems.
        let exact = |line: &&str| line.split(';').next().is_some_and(|wanted| wanted.matches("==").count() == 1);
        assert!(lines.len() >= 6 && lines.iter().all(exact), "{lines:?}");
    }

    #[test]
    fn an_environment_of_other_requirements_is_not_taken() {
        let requirements = root().join(REQUIREMENTS);
        let wanted = fs::read(&requirements).expect("it is in the repository");
        assert!(is_made_from(&requirements, &wanted));
        assert!(!is_made_from(&requirements, b"gguf==0.1"));
        assert!(!is_made_from(Path::new("no-such-file"), &wanted));
    }
}
