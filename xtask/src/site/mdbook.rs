//! mdBook: the program on the PATH, or one installed in the target folder.

use std::env;
use std::path::PathBuf;

use crate::error::TaskError;
use crate::step::{Step, target};

/// Version for which the templates and the style sheet are written.
const VERSION: &str = "0.5";

/// Returns the program, and installs it if necessary.
///
/// # Errors
/// Returns [`TaskError::Failed`] if the installation fails.
pub(crate) fn find_or_install() -> Result<PathBuf, TaskError> {
    let on_path = PathBuf::from("mdbook");
    if is_right_version(&on_path) {
        return Ok(on_path);
    }
    let folder = target()?.join("tools");
    let installed = folder.join(format!("bin/mdbook{}", env::consts::EXE_SUFFIX));
    if !is_right_version(&installed) {
        // Without the server and the file watcher, which take as long to build as the rest.
        let features = ["--no-default-features", "--features", "search"];
        let install = Step::cargo()
            .args(["install", "mdbook", "--locked", "--version"])
            .args([format!("^{VERSION}")])
            .args(features);
        install.args(["--root"]).args([&folder]).run()?;
    }
    Ok(installed)
}

fn is_right_version(program: &PathBuf) -> bool {
    Step::new(program).args(["--version"]).output().is_some_and(|said| said.contains(&format!(" v{VERSION}.")))
}
