//! The tour: one module per chapter, each with a `CHAPTER` in the list below.

pub(crate) mod block;
mod boosting;
mod codec;
mod networks;
pub(crate) mod page;
mod store;
mod weights;

use serde_json::Value;

use block::Block;

use crate::error::CliError;

/// Every chapter, in the order in which they are shown.
pub(crate) const CHAPTERS: &[Chapter] =
    &[codec::CHAPTER, weights::CHAPTER, networks::CHAPTER, boosting::CHAPTER, store::CHAPTER];

/// A capability shown at work.
pub(crate) struct Chapter {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// One line above its output.
    pub(crate) title: &'static str,
    /// Does the work.
    pub(crate) run: fn() -> Result<Box<dyn Report>, CliError>,
}

/// Results of a chapter.
pub(crate) trait Report {
    /// Sentences, tables and charts, in the order in which they are shown.
    fn blocks(&self) -> Vec<Block>;
    /// The same figures for programs.
    fn to_json(&self) -> Result<Value, serde_json::Error>;
}
