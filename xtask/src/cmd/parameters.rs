//! `cargo xtask parameters`: generates the parameter tables in the documentation and the Python package.

use std::fs;

use crate::error::TaskError;
use crate::parameters::{FILES, read, render};
use crate::step::root;

/// Generate docs/parameters.md and the Python signatures from crates/bitgrain-gbdt/src/parameter/table.rs
///
/// A test of this program fails if a file is out of date.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<(), TaskError> {
    for file in FILES {
        fs::write(root().join(file), render(file, &read(file)?)?)?;
    }
    Ok(())
}
