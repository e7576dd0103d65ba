//! Why the store refused.

use std::io;

use bitgrain_codec::CodecErr;
use thiserror::Error;

use crate::TensorId;

/// Why an operation of the store failed. Whatever the error, what was acknowledged before is still there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No tensor has this id.
    #[error("no tensor is called {id}")]
    NotFound {
        /// What was asked for.
        id: TensorId,
    },
    /// An id without characters.
    #[error("an id needs at least one character")]
    IdEmpty,
    /// An id that is too long.
    #[error("an id of {len} bytes is longer than {limit}")]
    IdTooLong {
        /// Its bytes.
        len: usize,
        /// The most there may be.
        limit: usize,
    },
    /// Another process has the store open for writing.
    #[error("the store is in use by process {pid}; open it read-only or wait")]
    Locked {
        /// The process, or 0 if it did not say.
        pid: u32,
    },
    /// Shape and values do not go together.
    #[error("the shape has {expected} values, {got} were given")]
    ShapeMismatch {
        /// Product of the axes.
        expected: usize,
        /// Values given.
        got: usize,
    },
    /// A shape with more values than memory has bytes.
    #[error("the shape {shape:?} has more values than fit in memory")]
    ShapeOverflow {
        /// The axes.
        shape: Vec<usize>,
    },
    /// The codec refused the values.
    #[error(transparent)]
    Codec(#[from] CodecErr),
    /// The file system refused.
    #[error("{name}: {source}")]
    Io {
        /// File, relative to the store.
        name: String,
        /// Why.
        source: io::Error,
    },
}
