//! Download of the prebuilt library: an npm package, unpacked once in cargo's target folder.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Package of node-llama-cpp that contains llama.cpp's libraries, built without CPU-specific flags.
const PACKAGE: &str = "@node-llama-cpp/linux-x64";
/// Version of the package.
pub(crate) const VERSION: &str = "3.22.1";
const FOLDER: &str = "package/bins/linux-x64";
const LIBRARY: &str = "libggml-base.so";
/// Registry of backends, and llama.cpp itself.
const BACKENDS: &str = "libggml.v0.5.0.so";
const LLAMA: &str = "libllama.v0.5.0.so";
/// One of the builds of the CPU backend.
const ANY_CPU: &str = "libggml-cpu-x64.so";

/// Reason why ggml is not available.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("the prebuilt library supports only Linux on x86-64")]
    OtherPlatform,
    #[error("cannot start `{program}`: {source}")]
    NotStarted { program: &'static str, source: io::Error },
    #[error("`{program}` failed: {status}")]
    Failed { program: &'static str, status: ExitStatus },
    #[error("cannot use the target folder: {0}")]
    Folder(#[from] io::Error),
    #[error("cannot load the library: {0}")]
    Load(#[from] libloading::Error),
}

/// Returns the path of the library, next to the builds of the CPU backend. Downloads them the first time.
///
/// # Errors
/// Returns any variant except [`FetchError::Load`].
pub(super) fn library() -> Result<PathBuf, FetchError> {
    Ok(libraries()?.join(LIBRARY))
}

/// Returns the paths of the libraries with the registry of backends and with llama.cpp. Downloads them the first time.
///
/// # Errors
/// Returns any variant except [`FetchError::Load`].
pub(super) fn llama() -> Result<[PathBuf; 2], FetchError> {
    let folder = libraries()?;
    Ok([BACKENDS, LLAMA].map(|name| folder.join(name)))
}

/// Returns the folder of the libraries.
fn libraries() -> Result<PathBuf, FetchError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(FetchError::OtherPlatform);
    }
    let folder = super::super::folder()?.join(format!("ggml-{VERSION}"));
    let libraries = folder.join(FOLDER);
    if ![LIBRARY, BACKENDS, LLAMA, ANY_CPU].iter().all(|name| libraries.join(name).is_file()) {
        std::fs::create_dir_all(&folder)?;
        eprintln!("downloading {PACKAGE} {VERSION} with npm");
        run("npm", &["pack", "--silent", "--pack-destination", "."], &[&format!("{PACKAGE}@{VERSION}")], &folder)?;
        let archive = format!("node-llama-cpp-linux-x64-{VERSION}.tgz");
        let wanted = format!("{FOLDER}/lib*.so");
        run("tar", &["--wildcards", "-xzf"], &[&archive, &wanted, "package/LICENSE"], &folder)?;
        std::fs::remove_file(folder.join(archive))?;
    }
    Ok(libraries)
}

/// Lists the builds of the CPU backend next to the library.
///
/// # Errors
/// Returns [`FetchError::Folder`] if the folder cannot be listed.
pub(super) fn cpu_libraries(library: &Path) -> Result<Vec<PathBuf>, FetchError> {
    let mut found = Vec::new();
    for entry in library.parent().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?.read_dir()? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("libggml-cpu-") {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn run(program: &'static str, options: &[&str], operands: &[&str], folder: &Path) -> Result<(), FetchError> {
    let done = Command::new(program).args(options).args(operands).current_dir(folder).output();
    let done = done.map_err(|source| FetchError::NotStarted { program, source })?;
    if done.status.success() { Ok(()) } else { Err(FetchError::Failed { program, status: done.status }) }
}
