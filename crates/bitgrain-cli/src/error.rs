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
    /// A model could not be read or written.
    #[error("{0}")]
    Model(#[from] bitgrain::nn::ModelError),
    /// A container could not be written.
    #[error("{0}")]
    Write(#[from] bitgrain::formats::WriteError),
    /// No format has this name.
    #[error("`{name}` is no weight format; `bitgrain quantize --help` lists them")]
    UnknownFormat {
        /// What was asked for.
        name: String,
    },
    /// Nothing to work with.
    #[error("0 threads cannot do anything; leave --threads out to use every core")]
    NoThreads,
    /// The system gave no threads.
    #[error("{0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
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
