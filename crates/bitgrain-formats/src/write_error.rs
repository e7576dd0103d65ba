//! What can go wrong while a container is written.

use std::io;

use crate::gguf::GgufError;
use crate::safetensors::SafetensorsError;

/// Why a container could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// What was asked for is nothing a GGUF file can hold.
    #[error(transparent)]
    Gguf(#[from] GgufError),
    /// What was asked for is nothing a safetensors file can hold.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsError),
    /// More bytes than the tensor has.
    #[error("tensor `{tensor}` takes {left} more bytes, not {given}")]
    TooManyBytes {
        /// The tensor whose turn it is.
        tensor: String,
        /// Bytes of the call.
        given: u64,
        /// Bytes it still takes.
        left: u64,
    },
    /// Bytes after the last tensor was complete.
    #[error("{given} bytes after the last tensor was complete")]
    AfterLast {
        /// Bytes of the call.
        given: u64,
    },
    /// The file was finished before all bytes were written.
    #[error("tensor `{tensor}` lacks {missing} bytes, and {after} tensors after it are not begun")]
    MissingBytes {
        /// The first tensor that is not complete.
        tensor: String,
        /// Bytes it lacks.
        missing: u64,
        /// Tensors that follow it.
        after: usize,
    },
    /// More than a ZIP archive without its 64-bit extension holds.
    #[error("`{name}` does not fit an npz archive: names have at most 65,531 bytes, and all arrays together 4 GiB")]
    NpzLimit {
        /// The array.
        name: String,
    },
    /// The output failed.
    #[error("writing failed: {0}")]
    Io(#[from] io::Error),
}
