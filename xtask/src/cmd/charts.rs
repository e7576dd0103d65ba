//! `cargo xtask charts`: draws the charts of `docs/benchmarks` from the tables there.

use crate::charts;
use crate::error::TaskError;

/// Draw the charts of docs/benchmarks from the tables of its pages
///
/// `cargo xtask bench SUITE -- --markdown docs/benchmarks/PAGE.md` does this for the page it writes. A test of this
/// program fails while a chart is out of date.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<(), TaskError> {
    charts::draw_all()
}
