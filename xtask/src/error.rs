//! Errors of tasks.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// One variant per possible reaction of the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TaskError {
    /// The command ran and failed; its output has the reason.
    #[error("`{command}` failed: {status}")]
    Failed { command: String, status: ExitStatus },
    /// The program is missing or not executable.
    #[error("cannot start `{command}`: {source}")]
    NotStarted { command: String, source: io::Error },
    #[error(
        "Python 3 not found: neither `python3` nor `python` on the PATH is Python 3; the golden vectors and oracles need it"
    )]
    NoPython,
    #[error(
        "cannot create the virtual environment `{name}`: {source}; it needs Python 3.11 or later with `venv` and `pip` \
         (Debian: python3-venv) and a package index that pip can reach"
    )]
    NoEnvironment { name: String, source: Box<TaskError> },
    #[error("unknown fuzz target `{asked}`; choose one of {}", known.join(", "))]
    UnknownTarget { asked: String, known: Vec<String> },
    #[error("fuzzing found failing inputs: {}; see fuzz/artifacts/", targets.join(", "))]
    FuzzFindings { targets: Vec<String> },
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("invalid file {}: {cause}; see `cargo xtask testing --help`", path.display())]
    Record { path: PathBuf, cause: String },
    /// The site was built, but has broken links.
    #[error("broken links in the site:\n{}", links.join("\n"))]
    BrokenLinks { links: Vec<String> },
    #[error("not in docs/SUMMARY.md: {}; add a line for each", pages.join(", "))]
    Unlisted { pages: Vec<String> },
    #[error(
        "no compiler for {triple}: neither the active toolchain nor Debian's has its standard library; run `rustup target \
         add {triple}`, or as root `cargo xtask test --platforms`"
    )]
    NoTarget { triple: &'static str },
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
}

impl TaskError {
    /// Returns 1 if a command failed, fuzzing found a defect or a link is broken, and 2 if the task could not run.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Failed { .. } | Self::FuzzFindings { .. } | Self::BrokenLinks { .. } | Self::Unlisted { .. } => 1,
            _ => 2,
        }
    }
}
