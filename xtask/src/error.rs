//! Why a task stopped.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// One variant per thing the person at the terminal can do about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// The command ran and said no: its own output says why.
    #[error("`{command}` failed: {status}")]
    Failed { command: String, status: ExitStatus },
    /// The program is missing or not executable.
    #[error("`{command}` could not be started: {source}")]
    NotStarted { command: String, source: io::Error },
    #[error(
        "Python 3 is needed for the golden vectors and the foreign oracles: neither `python3` nor `python` on the PATH is one"
    )]
    NoPython,
    #[error(
        "cannot make the virtual environment `{name}`: {source}; it needs Python 3.11 or later with `venv` and `pip` \
         (Debian: python3-venv) and a package index that pip can reach"
    )]
    NoEnvironment { name: String, source: Box<TaskError> },
    #[error("no fuzz target is called `{asked}`; there are: {}", known.join(", "))]
    UnknownTarget { asked: String, known: Vec<String> },
    #[error("fuzzing found inputs that fail: {}; they are in fuzz/artifacts/", targets.join(", "))]
    FuzzFindings { targets: Vec<String> },
    #[error("{} could not be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} cannot be used: {cause}; see `cargo xtask testing --help`", path.display())]
    Record { path: PathBuf, cause: String },
    /// The site is built, but a reader would run into these.
    #[error("broken links in the site:\n{}", links.join("\n"))]
    BrokenLinks { links: Vec<String> },
    #[error("{} is not in docs/SUMMARY.md; add a line for each", pages.join(", "))]
    Unlisted { pages: Vec<String> },
    #[error("the result could not be written: {0}")]
    Output(#[from] io::Error),
}

impl TaskError {
    /// 1 if a command failed, fuzzing found something or a link is broken, 2 if the task could not be carried out.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Failed { .. } | Self::FuzzFindings { .. } | Self::BrokenLinks { .. } | Self::Unlisted { .. } => 1,
            _ => 2,
        }
    }
}
