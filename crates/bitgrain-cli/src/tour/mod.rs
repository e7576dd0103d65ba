//! The tour: one module per chapter, each with a `CHAPTER` listed below.

pub(crate) mod block;
mod boosting;
mod codec;
mod language;
mod networks;
pub(crate) mod page;
mod search;
mod store;
mod weights;

use serde_json::Value;

use block::Block;

use crate::error::CliError;

/// All chapters, in display order.
pub(crate) const CHAPTERS: &[Chapter] = &[
    codec::CHAPTER,
    weights::CHAPTER,
    networks::CHAPTER,
    language::CHAPTER,
    boosting::CHAPTER,
    store::CHAPTER,
    search::CHAPTER,
];

/// A demonstration of one part of Bitgrain.
pub(crate) struct Chapter {
    /// Name on the command line.
    pub(crate) name: &'static str,
    /// Heading of its output.
    pub(crate) title: &'static str,
    /// Runs the demonstration.
    pub(crate) run: fn() -> Result<Box<dyn Report>, CliError>,
}

/// Results of a chapter.
pub(crate) trait Report {
    /// Returns sentences, tables and charts, in display order.
    fn blocks(&self) -> Vec<Block>;
    /// Returns the measurements as JSON.
    fn to_json(&self) -> Result<Value, serde_json::Error>;
}
