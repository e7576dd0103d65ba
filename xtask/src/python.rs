//! The Python interpreter that checks the golden vectors and creates virtual environments.

use crate::error::TaskError;
use crate::step::Step;

/// A Python 3 interpreter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Python(&'static str);

impl Python {
    /// Finds `python3`, or a `python` of version 3.
    ///
    /// # Errors
    /// Returns [`TaskError::NoPython`] if neither exists.
    pub(crate) fn find() -> Result<Self, TaskError> {
        const IS_THREE: [&str; 2] = ["-c", "import sys; sys.exit(sys.version_info.major != 3)"];
        let found = ["python3", "python"].into_iter().find(|name| Step::new(name).args(IS_THREE).succeeds());
        found.map(Self).ok_or(TaskError::NoPython)
    }

    /// Returns a step that runs `script`, a path from the workspace root.
    pub(crate) fn script(self, script: &str) -> Step {
        Step::new(self.0).args([script])
    }

    /// Returns a step that runs a module of the standard library.
    pub(crate) fn module(self, name: &str) -> Step {
        Step::new(self.0).args(["-m", name])
    }
}
