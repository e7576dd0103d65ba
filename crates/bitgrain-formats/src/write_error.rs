//! Errors while writing a container.

use std::io;

use crate::gguf::GgufError;
use crate::safetensors::SafetensorsError;

/// Reason why a container could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The request cannot be represented in a GGUF file.
    #[error(transparent)]
    Gguf(#[from] GgufError),
    /// The request cannot be represented in a safetensors file.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsError),
    /// More bytes than the tensor takes.
    #[error("tensor `{tensor}` takes {left} more bytes, got {given}")]
    TooManyBytes {
        /// Name of the current tensor.
        tensor: String,
        /// Bytes passed to the call.
        given: u64,
        /// Bytes that the tensor still takes.
        left: u64,
    },
    /// Bytes after the last tensor.
    #[error("got {given} bytes after the last tensor was complete")]
    AfterLast {
        /// Bytes passed to the call.
        given: u64,
    },
    /// The file was finished before all tensors were written.
    #[error("tensor `{tensor}` lacks {missing} bytes, and {after} tensors after it are not written")]
    MissingBytes {
        /// First incomplete tensor.
        tensor: String,
        /// Missing bytes.
        missing: u64,
        /// Number of tensors after it.
        after: usize,
    },
    /// An array that exceeds the limits of a ZIP archive without the 64-bit extension.
    #[error("`{name}` does not fit an npz archive: names are limited to 65,531 bytes and all arrays together to 4 GiB")]
    NpzLimit {
        /// Name of the array.
        name: String,
    },
    /// The output failed.
    #[error("writing failed: {0}")]
    Io(#[from] io::Error),
}
