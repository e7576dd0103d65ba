//! The oracles: a virtual environment with other libraries, and the tests that compare them with Bitgrain.

use std::env;
use std::path::{Path, PathBuf};

use crate::environment::{Environment, Requirements};
use crate::error::TaskError;
use crate::python::Python;
use crate::step::{Step, built};

/// Requirements of the environment; packages in the second list are installed without their dependencies.
const REQUIREMENTS: [Requirements; 2] = [
    Requirements { file: "oracles/requirements.txt", dependencies: true },
    Requirements { file: "oracles/models.txt", dependencies: false },
];

/// The environment of the oracles and the command under test.
#[derive(Debug)]
pub(crate) struct Oracles {
    environment: Environment,
    /// Path of the command, in cargo's folder for the profiles `dev` and `test`.
    command: PathBuf,
}

impl Oracles {
    /// Creates the environment in cargo's target folder, unless it exists and was created from the same requirements.
    ///
    /// # Errors
    /// Returns [`TaskError::NoEnvironment`] if it cannot be created, or [`TaskError::Unreadable`].
    pub(crate) fn set_up(python: Python) -> Result<Self, TaskError> {
        let command = built()?.join(format!("bitgrain{}", env::consts::EXE_SUFFIX));
        Ok(Self { environment: Environment::set_up(python, "oracles", &REQUIREMENTS)?, command })
    }

    /// Returns the folder of the environment.
    pub(crate) fn folder(&self) -> &Path {
        self.environment.folder()
    }

    /// Returns a step that runs a module with the environment's Python.
    pub(crate) fn module(&self, name: &str) -> Step {
        self.environment.module(name)
    }

    /// Returns the step that runs all oracles. The command must have been built with the profile `test`.
    pub(crate) fn step(&self) -> Step {
        let command = self.command.to_string_lossy();
        self.module("pytest").env("BITGRAIN", &command).args(["oracles", "-q", "-p", "no:cacheprovider"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::contents;

    #[test]
    fn every_requirement_is_one_exact_version() {
        let text = String::from_utf8(contents(&REQUIREMENTS).expect("it is in the repository")).expect("text");
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        // A condition on the operating system may follow after a semicolon.
        let exact = |line: &&str| line.split(';').next().is_some_and(|wanted| wanted.matches("==").count() == 1);
        assert!(lines.len() >= 6 && lines.iter().all(exact), "{lines:?}");
    }
}
