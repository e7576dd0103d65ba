//! The Python that runs the independent reader of the golden vectors and makes the environment of the oracles.

use crate::error::TaskError;
use crate::step::Step;

/// A Python 3 that was seen to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Python(&'static str);

impl Python {
    /// `python3`, or a `python` that is version 3.
    ///
    /// # Errors
    /// [`TaskError::NoPython`].
    pub(crate) fn find() -> Result<Self, TaskError> {
        const IS_THREE: [&str; 2] = ["-c", "import sys; sys.exit(sys.version_info.major != 3)"];
        let found = ["python3", "python"].into_iter().find(|name| Step::new(name).args(IS_THREE).succeeds());
        found.map(Self).ok_or(TaskError::NoPython)
    }

    /// A step that runs `script`, a path from the workspace root.
    pub(crate) fn script(self, script: &str) -> Step {
        Step::new(self.0).args([script])
    }

    /// A step that runs a module of its standard library.
    pub(crate) fn module(self, name: &str) -> Step {
        Step::new(self.0).args(["-m", name])
    }
}
