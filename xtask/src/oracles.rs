//! The foreign oracles: a virtual environment with other people's libraries, and the tests that hold ours against them.

use std::env;
use std::path::{Path, PathBuf};

use crate::environment::{Environment, Requirements};
use crate::error::TaskError;
use crate::python::Python;
use crate::step::{Step, built};

/// Contents of the environment; packages in the second list come without their own requirements.
const REQUIREMENTS: [Requirements; 2] = [
    Requirements { file: "oracles/requirements.txt", dependencies: true },
    Requirements { file: "oracles/models.txt", dependencies: false },
];

/// The environment of the oracles, and the command they are compared with.
#[derive(Debug)]
pub(crate) struct Oracles {
    environment: Environment,
    /// The command under test, where cargo puts programs of the profiles `dev` and `test`.
    command: PathBuf,
}

impl Oracles {
    /// Makes the environment in cargo's target folder, unless the one there was made from the same requirements.
    ///
    /// # Errors
    /// [`TaskError::NoEnvironment`] if it cannot be made, [`TaskError::Unreadable`].
    pub(crate) fn set_up(python: Python) -> Result<Self, TaskError> {
        let command = built()?.join(format!("bitgrain{}", env::consts::EXE_SUFFIX));
        Ok(Self { environment: Environment::set_up(python, "oracles", &REQUIREMENTS)?, command })
    }

    /// The folder of the environment, in cargo's target folder.
    pub(crate) fn folder(&self) -> &Path {
        self.environment.folder()
    }

    /// A step that runs a module of the environment's Python.
    pub(crate) fn module(&self, name: &str) -> Step {
        self.environment.module(name)
    }

    /// The step that runs every oracle on the command, which must be built with the profile `test`.
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
        // A condition on the operating system may follow a semicolon.
        let exact = |line: &&str| line.split(';').next().is_some_and(|wanted| wanted.matches("==").count() == 1);
        assert!(lines.len() >= 6 && lines.iter().all(exact), "{lines:?}");
    }
}
