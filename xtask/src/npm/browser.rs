//! Tests of the playground in a real browser.

use std::fs;
use std::path::Path;

use super::{folder, node, url};
use crate::error::TaskError;
use crate::platforms::install;
use crate::site::files;
use crate::step::{Step, built, root};

/// The library that drives the browser.
const DRIVER: &str = "playwright-core@1.65";

/// Debian's package and its program.
const BROWSER: &str = "chromium";

/// Tests the page in headless Chromium. Returns the reason if the browser or its driver cannot be installed.
///
/// # Errors
/// Returns [`TaskError::Failed`] if a test fails.
pub(crate) fn test(page: &Path) -> Result<Option<String>, TaskError> {
    let folder = folder()?;
    if let Some(reason) = find_or_install(&folder)? {
        return Ok(Some(reason));
    }
    let tests = folder.join("browser");
    files::remove(&tests)?;
    files::copy(&root().join("bindings/wasm/browser"), &tests)?;
    // The command line gives the reference results, also for Parquet files.
    let build = Step::cargo().args(["build", "--profile", "test", "--locked", "-p", "bitgrain-cli"]);
    build.args(["--features", "bitgrain-cli/full"]).run()?;
    let command = built()?.join(format!("bitgrain{}", std::env::consts::EXE_SUFFIX));
    let page = format!("file://{}", page.canonicalize()?.display());
    let step = node(&folder).env("BITGRAIN_PAGE", &page).env("BITGRAIN", &command.to_string_lossy());
    step.env("BITGRAIN_SPEC", &url(&root().join("spec"))?)
        .args(["--test", "browser/page.test.mjs", "browser/store.test.mjs"])
        .run()?;
    Ok(None)
}

/// Installs the browser and its driver if they are missing. Returns the reason if that fails.
///
/// # Errors
/// Returns [`TaskError::Output`] if the package cannot be moved.
pub(super) fn find_or_install(folder: &Path) -> Result<Option<String>, TaskError> {
    let has_browser = || Step::new(BROWSER).args(["--version"]).succeeds();
    if !has_browser() {
        install(&[BROWSER]);
        if !has_browser() {
            return Ok(Some(format!("install {BROWSER} to add it")));
        }
    }
    if has_driver(folder) {
        return Ok(None);
    }
    // npm removes packages that no package.json names, the one under test included.
    let (package, kept) = (folder.join("node_modules/bitgrain"), folder.join("kept"));
    fs::rename(&package, &kept)?;
    let quiet = ["--no-audit", "--no-fund", "--silent", "--ignore-scripts", "--no-save", "--no-package-lock"];
    let installed = Step::new("npm").in_folder(folder).args(["install", DRIVER]).args(quiet).succeeds();
    fs::create_dir_all(folder.join("node_modules"))?;
    fs::rename(kept, package)?;
    Ok((!installed || !has_driver(folder))
        .then(|| format!("`npm install {DRIVER}` failed; install it to add the browser")))
}

fn has_driver(folder: &Path) -> bool {
    folder.join("node_modules/playwright-core/package.json").is_file()
}
