//! Tests of the package in Node.

use std::fs;

use super::build::digits;
use super::{folder, node, url};
use crate::error::TaskError;
use crate::site::files;
use crate::step::root;

/// Tests the built package in Node. The tests are copied next to it, so that they import it as users do.
///
/// # Errors
/// Returns [`TaskError::Failed`] if a test fails.
pub(crate) fn test() -> Result<(), TaskError> {
    let folder = folder()?;
    let tests = folder.join("tests");
    files::remove(&tests)?;
    files::copy(&root().join("bindings/wasm/tests"), &tests)?;
    let mut scripts: Vec<_> = fs::read_dir(&tests)?.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    scripts.sort();
    let step = node(&folder).env("BITGRAIN_SPEC", &url(&root().join("spec"))?);
    step.env("BITGRAIN_DIGITS", &digits()?.to_string_lossy()).args(["--test"]).args(scripts).run()
}
