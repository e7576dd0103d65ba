//! What can be wrong with a safetensors file or index, or with what one is asked to hold.

use super::{Dtype, MAX_HEADER, METADATA_KEY};

/// Why bytes are not a safetensors file or index, or why one cannot hold what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// The file ends before its header does.
    #[error("{what} needs {needed} bytes at offset {offset}, {left} are left")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Bytes it has.
        needed: u64,
        /// Bytes there are.
        left: u64,
    },
    /// A header that is larger than any should be.
    #[error("a header of {len} bytes is too large, {MAX_HEADER} are allowed")]
    HeaderTooLarge {
        /// Bytes of the header.
        len: u64,
    },
    /// The header does not begin as JSON objects do.
    #[error("the header begins with the byte {found:#04x}, not with {{")]
    NotAnObject {
        /// Its first byte, 0 if it has none.
        found: u8,
    },
    /// The text is not the JSON it should be.
    #[error("{}, line {line} column {column}: {message}", place(entry.as_deref()))]
    Json {
        /// The tensor, key or `__metadata__` it was found in.
        entry: Option<String>,
        /// Line of the text, from 1.
        line: usize,
        /// Column of the line.
        column: usize,
        /// What the JSON parser says.
        message: String,
    },
    /// A tensor name that is there twice, or that belongs to the metadata.
    #[error("tensor `{tensor}` is there twice")]
    DuplicateTensor {
        /// The name.
        tensor: String,
    },
    /// A key of the metadata that is there twice.
    #[error("key `{key}` of the metadata is there twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A tensor called `__metadata__`.
    #[error("a tensor cannot be called `{METADATA_KEY}`")]
    ReservedName,
    /// A type nobody gave a meaning.
    #[error("tensor `{tensor}` has the unknown type `{dtype}`")]
    UnknownDtype {
        /// The tensor.
        tensor: String,
        /// Its type.
        dtype: String,
    },
    /// Dimensions that multiply to more elements or bits than can be counted.
    #[error("tensor `{tensor}` of shape {shape:?} is too large to count")]
    TooLarge {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<u64>,
    },
    /// Elements smaller than a byte that do not fill their last one.
    #[error("tensor `{tensor}` has {elements} elements of {bits} bits ({dtype}), which is no whole number of bytes")]
    PartialByte {
        /// The tensor.
        tensor: String,
        /// Its elements.
        elements: u64,
        /// Bits of each.
        bits: u64,
        /// Its type.
        dtype: Dtype,
    },
    /// Offsets that run backwards.
    #[error("tensor `{tensor}` begins at {start} and ends at {end}")]
    Backwards {
        /// The tensor.
        tensor: String,
        /// Where it begins, counted from the end of the header.
        start: u64,
        /// Where it ends.
        end: u64,
    },
    /// Offsets that do not agree with shape and type.
    #[error("tensor `{tensor}` of shape {shape:?} and type {dtype} needs {needed} bytes, its offsets give it {given}")]
    Size {
        /// The tensor.
        tensor: String,
        /// Its type.
        dtype: Dtype,
        /// Its shape.
        shape: Vec<u64>,
        /// Bytes by shape and type.
        needed: u64,
        /// Bytes by offsets.
        given: u64,
    },
    /// A tensor that begins inside the one before it.
    #[error("tensor `{tensor}` begins at {start}, before {expected} where the one before it ends")]
    Overlap {
        /// The tensor.
        tensor: String,
        /// Where it begins, counted from the end of the header.
        start: u64,
        /// Where it should.
        expected: u64,
    },
    /// Bytes between two tensors that belong to neither.
    #[error("tensor `{tensor}` begins at {start}, behind {expected} where the one before it ends")]
    Hole {
        /// The tensor.
        tensor: String,
        /// Where it begins, counted from the end of the header.
        start: u64,
        /// Where it should.
        expected: u64,
    },
    /// A tensor whose bytes are not all there.
    #[error("tensor `{tensor}` ends at {end}, the data has {len} bytes")]
    PastEnd {
        /// The tensor.
        tensor: String,
        /// Where it ends, counted from the end of the header.
        end: u64,
        /// Bytes behind the header.
        len: u64,
    },
    /// Bytes behind the last tensor.
    #[error("the tensors end at {end}, the data has {len} bytes")]
    Uncovered {
        /// Where the last tensor ends, counted from the end of the header.
        end: u64,
        /// Bytes behind the header.
        len: u64,
    },
    /// A name in an index that is not that of a file beside it.
    #[error("tensor `{tensor}` is in `{file}`, which is not the plain name of a file")]
    FileName {
        /// The tensor.
        tensor: String,
        /// The name.
        file: String,
    },
}

fn place(entry: Option<&str>) -> String {
    entry.map_or_else(|| "not the JSON of a header".into(), |entry| format!("in `{entry}`"))
}
