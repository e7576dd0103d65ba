//! Download of the prebuilt library: an npm package, unpacked once into cargo's target folder.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// The package of node-llama-cpp that carries llama.cpp's libraries, built without flags for one CPU.
const PACKAGE: &str = "@node-llama-cpp/linux-x64";
/// Its version.
pub(crate) const VERSION: &str = "3.22.1";
const FOLDER: &str = "package/bins/linux-x64";
const LIBRARY: &str = "libggml-base.so";
/// One of several builds of the products, for different CPUs.
const ANY_CPU: &str = "libggml-cpu-x64.so";

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

/// The path of the library, with the builds of its products beside it; downloads them if this is the first time.
///
/// # Errors
/// Anything but [`FetchError::Load`].
pub(super) fn library() -> Result<PathBuf, FetchError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(FetchError::OtherPlatform);
    }
    let folder = super::super::folder()?.join(format!("ggml-{VERSION}"));
    let libraries = folder.join(FOLDER);
    if ![LIBRARY, ANY_CPU].iter().all(|name| libraries.join(name).is_file()) {
        std::fs::create_dir_all(&folder)?;
        eprintln!("fetching {PACKAGE} {VERSION} with npm");
        run("npm", &["pack", "--silent", "--pack-destination", "."], &[&format!("{PACKAGE}@{VERSION}")], &folder)?;
        let archive = format!("node-llama-cpp-linux-x64-{VERSION}.tgz");
        let wanted = format!("{FOLDER}/libggml-*.so");
        run("tar", &["--wildcards", "-xzf"], &[&archive, &wanted, "package/LICENSE"], &folder)?;
        std::fs::remove_file(folder.join(archive))?;
    }
    Ok(libraries.join(LIBRARY))
}

/// The builds of the products that lie beside the library.
///
/// # Errors
/// [`FetchError::Folder`].
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
