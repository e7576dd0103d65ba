//! Where the prebuilt library comes from: a package of npm, unpacked once into cargo's target folder.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The package of node-llama-cpp that carries llama.cpp's libraries, built without flags for one CPU.
const PACKAGE: &str = "@node-llama-cpp/linux-x64";
/// Its version.
pub(crate) const VERSION: &str = "3.22.1";
const LIBRARY: &str = "package/bins/linux-x64/libggml-base.so";

/// Why there is no ggml to compare with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("the prebuilt library is for Linux on x86-64")]
    OtherPlatform,
    #[error("`{program}` could not be started: {source}")]
    NotStarted { program: &'static str, source: io::Error },
    #[error("`{program}` failed: {status}")]
    Failed { program: &'static str, status: ExitStatus },
    #[error("the target folder: {0}")]
    Folder(#[from] io::Error),
    #[error("the library does not load: {0}")]
    Load(#[from] libloading::Error),
}

/// The path of the library; downloads it if this is the first time.
///
/// # Errors
/// Anything but [`FetchError::Load`].
pub(super) fn library() -> Result<PathBuf, FetchError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(FetchError::OtherPlatform);
    }
    let folder = super::super::folder()?.join(format!("ggml-{VERSION}"));
    let library = folder.join(LIBRARY);
    if !library.is_file() {
        std::fs::create_dir_all(&folder)?;
        eprintln!("fetching {PACKAGE} {VERSION} with npm");
        run("npm", &["pack", "--silent", "--pack-destination", "."], &[&format!("{PACKAGE}@{VERSION}")], &folder)?;
        let archive = format!("node-llama-cpp-linux-x64-{VERSION}.tgz");
        run("tar", &["-xzf"], &[&archive, LIBRARY, "package/LICENSE"], &folder)?;
        std::fs::remove_file(folder.join(archive))?;
    }
    Ok(library)
}

fn run(program: &'static str, options: &[&str], operands: &[&str], folder: &Path) -> Result<(), FetchError> {
    let done = Command::new(program).args(options).args(operands).current_dir(folder).output();
    let done = done.map_err(|source| FetchError::NotStarted { program, source })?;
    if done.status.success() { Ok(()) } else { Err(FetchError::Failed { program, status: done.status }) }
}
