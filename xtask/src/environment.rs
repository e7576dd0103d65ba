//! A Python virtual environment in cargo's target folder, recreated when its requirements change.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::python::Python;
use crate::step::{Step, root, target};

/// A list of packages with exact versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requirements {
    /// Path from the workspace root.
    pub(crate) file: &'static str,
    /// Whether dependencies of the packages are installed too.
    pub(crate) dependencies: bool,
}

/// A virtual environment with its requirements installed.
#[derive(Debug)]
pub(crate) struct Environment {
    folder: PathBuf,
    python: PathBuf,
}

impl Environment {
    /// Creates the environment `name` in the target folder, unless it exists and was created from the same
    /// requirements.
    ///
    /// # Errors
    /// Returns [`TaskError::NoEnvironment`] if it cannot be created, [`TaskError::Unreadable`] for a list of
    /// requirements.
    pub(crate) fn set_up(python: Python, name: &str, lists: &[Requirements]) -> Result<Self, TaskError> {
        let folder = target()?.join(name);
        let wanted = contents(lists)?;
        let python_path = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let environment = Self { folder: folder.clone(), python: python_path };
        // Written last, so that an environment is recreated if its installation was interrupted.
        let stamp = folder.join("made-from.txt");
        if !is_made_from(&stamp, &wanted) || !Step::new(&environment.python).args(["--version"]).succeeds() {
            let failed = |source| TaskError::NoEnvironment { name: name.to_owned(), source: Box::new(source) };
            python.module("venv").args(["--clear"]).args([&folder]).run().map_err(failed)?;
            for list in lists {
                let install = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "-r"];
                let step = Step::new(&environment.python).args(install).args([list.file]);
                step.args((!list.dependencies).then_some("--no-deps")).run().map_err(failed)?;
            }
            fs::write(&stamp, &wanted)?;
        }
        Ok(environment)
    }

    /// Returns the folder of the environment.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a step that runs a script, given by its path from the workspace root.
    pub(crate) fn script(&self, script: &str) -> Step {
        self.step().args([script])
    }

    /// Returns a step that runs a module with the environment's Python.
    pub(crate) fn module(&self, name: &str) -> Step {
        self.step().args(["-m", name])
    }

    fn step(&self) -> Step {
        let programs = self.python.parent().unwrap_or(Path::new("."));
        // Do not write bytecode files into the checkout.
        Step::new(&self.python).path_from(programs).env("PYTHONDONTWRITEBYTECODE", "1")
    }
}

/// Returns the contents of all lists, which identify an environment.
pub(crate) fn contents(lists: &[Requirements]) -> Result<Vec<u8>, TaskError> {
    let read = |list: &Requirements| {
        let path = root().join(list.file);
        fs::read(&path).map_err(|source| TaskError::Unreadable { path, source })
    };
    Ok(lists.iter().map(read).collect::<Result<Vec<_>, _>>()?.concat())
}

fn is_made_from(stamp: &Path, wanted: &[u8]) -> bool {
    fs::read(stamp).is_ok_and(|made| made == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_with_other_requirements_is_not_reused() {
        let requirements = root().join("oracles/requirements.txt");
        let wanted = fs::read(&requirements).expect("it is in the repository");
        assert!(is_made_from(&requirements, &wanted));
        assert!(!is_made_from(&requirements, b"gguf==0.1"));
        assert!(!is_made_from(Path::new("no-such-file"), &wanted));
    }
}
