//! The npm package and the playground: built from `bindings/wasm` into the target folder.

mod browser;
mod build;
mod page;
mod tests;

use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::platforms::Toolchain;
use crate::step::{Step, root, target};

pub(crate) use browser::test as test_browser;
pub(crate) use build::build;
pub(crate) use page::write as write_page;
pub(crate) use tests::test as test_node;

/// Target of the package.
pub(crate) const TRIPLE: &str = "wasm32-unknown-unknown";

/// Returns the folder in which Node finds the package: the parent of `node_modules`.
///
/// # Errors
/// Returns [`TaskError::Output`] if the target folder is unknown.
pub(crate) fn folder() -> Result<PathBuf, TaskError> {
    Ok(target()?.join("npm"))
}

/// Builds the package and times it in Node and Chromium.
///
/// # Errors
/// Returns [`TaskError::NoTarget`] without a compiler, or [`TaskError::Failed`] if a build fails.
pub(crate) fn bench() -> Result<(), TaskError> {
    build(Toolchain::find(TRIPLE).ok_or(TaskError::NoTarget { triple: TRIPLE })?)?;
    let folder = folder()?;
    browser::find_or_install(&folder)?;
    // Next to the package, so that it is imported as users do.
    std::fs::copy(root().join("bench/package.mjs"), folder.join("package.mjs"))?;
    node(&folder).args(["package.mjs"]).run()
}

/// Returns a step that runs a script of the folder.
fn node(folder: &Path) -> Step {
    Step::new("node").in_folder(folder)
}

/// Returns a file URL, which is how scripts are told where files are.
fn url(path: &Path) -> Result<String, TaskError> {
    Ok(format!("file://{}/", path.canonicalize()?.display()))
}
