//! What a command can fail with, worded for the person at the terminal.

use std::io;

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The codec refused something.
    #[error("{0}")]
    Codec(#[from] bitgrain::codec::CodecErr),
    /// A report could not be written as JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// The tour has no such chapter.
    #[error("the tour has no chapter `{name}`; it has: {known}")]
    UnknownChapter {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}
