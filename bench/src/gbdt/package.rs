//! `Package`: this project's Python package in the environment of the other libraries.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Interpreter that gets the package when it is first needed.
pub(super) struct Package {
    python: Option<PathBuf>,
    installed: OnceCell<Result<(), String>>,
}

impl Package {
    pub(super) const fn new(python: Option<PathBuf>) -> Self {
        Self { python, installed: OnceCell::new() }
    }

    /// Returns the interpreter with the package, built in release mode.
    ///
    /// # Errors
    /// Returns the reason why the package cannot be installed.
    pub(super) fn python(&self) -> Result<&Path, String> {
        let python = self.python.as_deref().ok_or("no Python environment")?;
        self.installed.get_or_init(|| install(python)).clone()?;
        Ok(python)
    }
}

fn install(python: &Path) -> Result<(), String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/python");
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]);
    let status = command.arg(package).stdout(Stdio::null()).status().map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("cannot install bindings/python: {status}")) }
}
