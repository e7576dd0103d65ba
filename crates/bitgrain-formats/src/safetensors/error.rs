//! Errors of the safetensors reader and writer.

use super::{Dtype, MAX_HEADER, METADATA_KEY};

/// Reason why bytes are not a safetensors file or index, or why a file cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// The file ends inside its header.
    #[error("{what} needs {needed} bytes at offset {offset}, but only {left} are left")]
    Truncated {
        /// Field being read.
        what: &'static str,
        /// Offset of the field.
        offset: u64,
        /// Size of the field in bytes.
        needed: u64,
        /// Bytes left in the file.
        left: u64,
    },
    /// A header above the size limit.
    #[error("the header has {len} bytes; the maximum is {MAX_HEADER}")]
    HeaderTooLarge {
        /// Size of the header in bytes.
        len: u64,
    },
    /// The header is not a JSON object.
    #[error("the header starts with byte {found:#04x} instead of `{{`")]
    NotAnObject {
        /// First byte of the header; 0 if it is empty.
        found: u8,
    },
    /// Invalid JSON.
    #[error("{}, line {line} column {column}: {message}", place(entry.as_deref()))]
    Json {
        /// Tensor, key or `__metadata__` that contains the error.
        entry: Option<String>,
        /// 1-based line number.
        line: usize,
        /// 1-based column.
        column: usize,
        /// Message of the JSON parser.
        message: String,
    },
    /// A duplicate tensor name.
    #[error("duplicate tensor `{tensor}`")]
    DuplicateTensor {
        /// Name of the tensor.
        tensor: String,
    },
    /// A duplicate metadata key.
    #[error("duplicate metadata key `{key}`")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A tensor called `__metadata__`.
    #[error("`{METADATA_KEY}` is reserved and cannot name a tensor")]
    ReservedName,
    /// Unknown element type.
    #[error("tensor `{tensor}` has unknown type `{dtype}`")]
    UnknownDtype {
        /// Name of the tensor.
        tensor: String,
        /// Element type.
        dtype: String,
    },
    /// The number of elements or bits overflows.
    #[error("tensor `{tensor}` of shape {shape:?} is too large")]
    TooLarge {
        /// Name of the tensor.
        tensor: String,
        /// Shape of the tensor.
        shape: Vec<u64>,
    },
    /// Sub-byte elements that do not fill whole bytes.
    #[error("tensor `{tensor}` has {elements} elements of {bits} bits ({dtype}), which do not fill whole bytes")]
    PartialByte {
        /// Name of the tensor.
        tensor: String,
        /// Number of elements.
        elements: u64,
        /// Bits per element.
        bits: u64,
        /// Element type.
        dtype: Dtype,
    },
    /// An end offset before the start offset.
    #[error("tensor `{tensor}` ends at offset {end}, before its start at {start}")]
    Backwards {
        /// Name of the tensor.
        tensor: String,
        /// Start offset from the end of the header.
        start: u64,
        /// End offset from the end of the header.
        end: u64,
    },
    /// Offsets that contradict shape and type.
    #[error("tensor `{tensor}` of shape {shape:?} and type {dtype} needs {needed} bytes, but its offsets span {given}")]
    Size {
        /// Name of the tensor.
        tensor: String,
        /// Element type.
        dtype: Dtype,
        /// Shape of the tensor.
        shape: Vec<u64>,
        /// Bytes required by shape and type.
        needed: u64,
        /// Bytes spanned by the offsets.
        given: u64,
    },
    /// A tensor that overlaps the previous one.
    #[error("tensor `{tensor}` starts at offset {start} and overlaps the previous tensor, which ends at {expected}")]
    Overlap {
        /// Name of the tensor.
        tensor: String,
        /// Start offset from the end of the header.
        start: u64,
        /// Expected offset.
        expected: u64,
    },
    /// A gap between two tensors.
    #[error(
        "tensor `{tensor}` starts at offset {start}, leaving a gap after the previous tensor, which ends at {expected}"
    )]
    Hole {
        /// Name of the tensor.
        tensor: String,
        /// Start offset from the end of the header.
        start: u64,
        /// Expected offset.
        expected: u64,
    },
    /// A tensor that extends past the end of the data.
    #[error("tensor `{tensor}` ends at offset {end}, but the file has {len} bytes of data")]
    PastEnd {
        /// Name of the tensor.
        tensor: String,
        /// End offset from the end of the header.
        end: u64,
        /// Bytes after the header.
        len: u64,
    },
    /// Bytes after the last tensor.
    #[error("the last tensor ends at offset {end}, but the file has {len} bytes of data")]
    Uncovered {
        /// End offset of the last tensor from the end of the header.
        end: u64,
        /// Bytes after the header.
        len: u64,
    },
    /// A file name in an index that is not a plain name in the same folder.
    #[error("tensor `{tensor}` is in `{file}`, which is not a plain file name in the folder of the index")]
    FileName {
        /// Name of the tensor.
        tensor: String,
        /// File name.
        file: String,
    },
}

fn place(entry: Option<&str>) -> String {
    entry.map_or_else(|| "not the JSON of a header".into(), |entry| format!("in `{entry}`"))
}
