//! `cargo xtask parameters`: writes the hyper-parameters' table into the documentation and the Python package.

use std::fs;

use crate::error::TaskError;
use crate::parameters::{FILES, read, render};
use crate::step::root;

/// Write docs/parameters.md and the Python signatures from the table in crates/bitgrain-gbdt/src/parameter/table.rs
///
/// A test of this program fails while a file is out of date.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<(), TaskError> {
    for file in FILES {
        fs::write(root().join(file), render(file, &read(file)?)?)?;
    }
    Ok(())
}
