//! The npm package and the playground: built from `bindings/wasm` into the target folder.

mod browser;
mod build;
mod page;
mod tests;

use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::step::{Step, target};

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

/// Returns a step that runs a script of the folder.
fn node(folder: &Path) -> Step {
    Step::new("node").in_folder(folder)
}

/// Returns a file URL, which is how scripts are told where files are.
fn url(path: &Path) -> Result<String, TaskError> {
    Ok(format!("file://{}/", path.canonicalize()?.display()))
}
