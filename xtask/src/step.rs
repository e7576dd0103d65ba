//! A step of a task: one command, run from the workspace root, with its output on the terminal.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::TaskError;

/// A command to run.
pub(crate) struct Step(Command);

impl Step {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.current_dir(root());
        Self(command)
    }

    /// Uses the cargo that started this task, so that `cargo +toolchain xtask` keeps its toolchain.
    pub(crate) fn cargo() -> Self {
        Self::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// Runs the command in another folder.
    pub(crate) fn in_folder(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(args);
        self
    }

    pub(crate) fn env(mut self, key: &str, value: &str) -> Self {
        self.0.env(key, value);
        self
    }

    /// Draws the same property-test cases in every run unless the caller sets another seed, so that a failure comes from
    /// the change under test.
    pub(crate) fn with_fixed_cases(self) -> Self {
        match env::var_os("PROPTEST_RNG_SEED") {
            Some(_) => self,
            None => self.env("PROPTEST_RNG_SEED", "1"),
        }
    }

    /// Searches this folder for programs first, as in an activated environment.
    pub(crate) fn path_from(self, folder: &Path) -> Self {
        let others = env::var_os("PATH").unwrap_or_default();
        let folders = [folder.to_owned()].into_iter().chain(env::split_paths(&others));
        // Joining fails only for a folder with a path separator in its name; the search path then stays unchanged.
        let path = env::join_paths(folders).unwrap_or(others);
        self.env("PATH", &path.to_string_lossy())
    }

    /// Prints the command, runs it and waits for its end.
    ///
    /// # Errors
    /// Returns [`TaskError::NotStarted`], or [`TaskError::Failed`] for any exit code except 0.
    pub(crate) fn run(mut self) -> Result<(), TaskError> {
        let command = self.to_string();
        eprintln!("$ {command}");
        match self.0.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(TaskError::Failed { command, status }),
            Err(source) => Err(TaskError::NotStarted { command, source }),
        }
    }

    /// Like [`run`](Self::run), but also passes each line of standard error to `take`.
    ///
    /// # Errors
    /// Returns the same errors as [`run`](Self::run).
    pub(crate) fn run_with_errors(mut self, mut take: impl FnMut(&str)) -> Result<(), TaskError> {
        let command = self.to_string();
        eprintln!("$ {command}");
        let ended = self.0.stderr(Stdio::piped()).spawn().and_then(|mut child| {
            let lines = child.stderr.take().map(BufReader::new).into_iter().flat_map(|pipe| pipe.split(b'\n'));
            for line in lines.map_while(Result::ok) {
                let line = String::from_utf8_lossy(&line);
                eprintln!("{line}");
                take(&line);
            }
            child.wait()
        });
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(TaskError::Failed { command, status }),
            Err(source) => Err(TaskError::NotStarted { command, source }),
        }
    }

    /// Runs the command without output; returns whether it exists and exits with 0.
    pub(crate) fn succeeds(mut self) -> bool {
        self.0.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.0.status().is_ok_and(|status| status.success())
    }

    /// Returns the standard output of a command, or `None` if it does not exist or fails.
    pub(crate) fn output(mut self) -> Option<String> {
        let output = self.0.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Formats the command as a user would type it: without the program's directory, the search path and unnecessary
/// quotes.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in self.0.get_envs().filter(|(key, _)| *key != "PATH") {
            write!(f, "{}={} ", key.display(), quoted(value.unwrap_or_default()))?;
        }
        let program = Path::new(self.0.get_program());
        f.write_str(&quoted(program.file_stem().unwrap_or(program.as_os_str())))?;
        self.0.get_args().try_for_each(|arg| write!(f, " {}", quoted(arg)))
    }
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    if word.is_empty() || word.contains(char::is_whitespace) { format!("{word:?}") } else { word.into_owned() }
}

/// Returns the folder of this program, which also has the other programs that cargo builds for tests.
///
/// # Errors
/// Returns [`TaskError::Output`] if the path of the program is unknown.
pub(crate) fn built() -> Result<PathBuf, TaskError> {
    let program = env::current_exe()?;
    Ok(program.parent().unwrap_or(Path::new(".")).to_owned())
}

/// Returns cargo's target folder: the parent of the folder of the build profile.
///
/// # Errors
/// Returns the same error as [`built`].
pub(crate) fn target() -> Result<PathBuf, TaskError> {
    // Tests of this program are in `deps`, one level deeper.
    let folder = built()?;
    let folder = if folder.ends_with("deps") { folder.parent().map_or(folder.clone(), Path::to_owned) } else { folder };
    Ok(folder.parent().unwrap_or(Path::new(".")).to_owned())
}

/// Returns the workspace root.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_printed_as_a_shell_command() {
        let step = Step::new("/some/where/cargo").env("FLAGS", "-D warnings").args(["doc", "--no-deps"]);
        assert_eq!(step.to_string(), "FLAGS=\"-D warnings\" cargo doc --no-deps");
    }

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        assert!(root().join("Cargo.toml").is_file());
        assert!(root().join("xtask").is_dir());
    }

    #[test]
    fn a_program_that_does_not_exist_is_not_a_success() {
        assert!(!Step::new("no-such-program-anywhere").succeeds());
    }
}
