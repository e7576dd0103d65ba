//! `cargo xtask testing`: generates the tables of `docs/testing.md`.

use std::fs;

use crate::error::TaskError;
use crate::step::root;
use crate::testing::{self, PAGE};

/// Generate the tables of docs/testing.md from the sources and the records in docs/testing/
///
/// A test of this program fails if the page is out of date.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<(), TaskError> {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).map_err(|source| TaskError::Unreadable { path: path.clone(), source })?;
    fs::write(&path, testing::render(&page)?)?;
    Ok(())
}
