//! The tour: one module per chapter, each with a `CHAPTER` in the list below.

mod boosting;
mod codec;
mod networks;
mod store;
mod weights;

use std::io::{self, Write};

use serde_json::Value;

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

/// What a chapter found, for people and for machines.
pub(crate) trait Report {
    /// Tables and the sentences that explain them.
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()>;
    /// The same numbers.
    fn to_json(&self) -> Result<Value, serde_json::Error>;
}
