//! Errors of the GGUF reader and writer.

/// Reason why bytes are not a supported GGUF file, or why a file cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GgufError {
    /// Wrong magic number.
    #[error("not a GGUF file: it starts with `{}` instead of `GGUF`", found.escape_ascii())]
    Magic {
        /// First four bytes of the file.
        found: [u8; 4],
    },
    /// Unsupported format version.
    #[error("unsupported GGUF version {version}; supported versions: 2 and 3")]
    Version {
        /// Version of the file.
        version: u32,
    },
    /// The file is big-endian.
    #[error("the file is big-endian (version {version}); only little-endian files are supported")]
    BigEndian {
        /// Version of the file, read as a big-endian number.
        version: u32,
    },
    /// The file ends inside its header.
    #[error("{what} needs {needed} bytes at offset {offset}, but only {left} are left")]
    Truncated {
        /// Field being read, with its key or tensor.
        what: String,
        /// Offset of the field.
        offset: u64,
        /// Size of the field in bytes.
        needed: u64,
        /// Bytes left in the file.
        left: u64,
    },
    /// A count of keys, tensors or elements that exceeds the bytes left.
    #[error("{count} {what} need at least {least} bytes each, but only {left} bytes are left")]
    Count {
        /// Item being counted, with its key if it has one.
        what: String,
        /// Count stored in the file.
        count: u64,
        /// Size of the smallest item in bytes.
        least: u64,
        /// Bytes left in the file.
        left: u64,
    },
    /// A key, name or string that is not UTF-8.
    #[error("{what} at offset {offset} is not UTF-8")]
    NotUtf8 {
        /// Field name, with its key or tensor.
        what: String,
        /// Offset of its first byte.
        offset: u64,
    },
    /// An empty key.
    #[error("key {index} is empty")]
    EmptyKey {
        /// 0-based index of the key.
        index: u64,
    },
    /// A duplicate key.
    #[error("duplicate key `{key}`")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// Unknown value type.
    #[error("key `{key}` has unknown value type {id}")]
    ValueType {
        /// The key.
        key: String,
        /// Type number in the file.
        id: u32,
    },
    /// A nested array, which llama.cpp does not read either.
    #[error("key `{key}` is a nested array, which is not supported")]
    NestedArray {
        /// The key.
        key: String,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("key `{key}` has byte {value} instead of a boolean at index {index}")]
    Bool {
        /// The key.
        key: String,
        /// Index in the array; 0 for a scalar.
        index: u64,
        /// The byte.
        value: u8,
    },
    /// `general.alignment` is not a u32.
    #[error("`general.alignment` is {found}, not u32")]
    AlignmentType {
        /// Type of the value.
        found: &'static str,
    },
    /// `general.alignment` is not a power of two.
    #[error("alignment {alignment} is not a power of two")]
    Alignment {
        /// The alignment.
        alignment: u32,
    },
    /// A duplicate tensor name.
    #[error("duplicate tensor `{tensor}`")]
    DuplicateTensor {
        /// Name of the tensor.
        tensor: String,
    },
    /// A name that llama.cpp refuses to load; checked by the writer only.
    #[error("tensor name `{tensor}` has {len} bytes; llama.cpp loads at most {}", super::MAX_NAME)]
    NameTooLong {
        /// Name of the tensor.
        tensor: String,
        /// Length of the name in bytes.
        len: usize,
    },
    /// Too many dimensions.
    #[error("tensor `{tensor}` has {count} dimensions; the maximum is {}", super::MAX_DIMS)]
    DimCount {
        /// Name of the tensor.
        tensor: String,
        /// Number of dimensions.
        count: u64,
    },
    /// Unknown or removed tensor type.
    #[error("tensor `{tensor}` has unknown type {id}")]
    TensorType {
        /// Name of the tensor.
        tensor: String,
        /// Type number in the file.
        id: u32,
    },
    /// The number of elements or bytes overflows.
    #[error("tensor `{tensor}` with dimensions {dims:?} is too large")]
    TooLarge {
        /// Name of the tensor.
        tensor: String,
        /// Dimensions of the tensor.
        dims: Vec<u64>,
    },
    /// A row length that is not a multiple of the block length.
    #[error("tensor `{tensor}` has rows of {row} weights, which is not a multiple of the {kind} block size {block}")]
    RaggedRow {
        /// Name of the tensor.
        tensor: String,
        /// Weights per row.
        row: u64,
        /// Weights per block.
        block: u64,
        /// Name of the storage type.
        kind: &'static str,
    },
    /// An offset that is not a multiple of the alignment.
    #[error("tensor `{tensor}` is at offset {offset}, which is not a multiple of the alignment {alignment}")]
    Misaligned {
        /// Name of the tensor.
        tensor: String,
        /// Offset from the start of the tensor data.
        offset: u64,
        /// The alignment.
        alignment: u32,
    },
    /// A tensor that overlaps the previous one.
    #[error("tensor `{tensor}` starts at offset {offset} and overlaps the previous tensor, which ends at {expected}")]
    Overlap {
        /// Name of the tensor.
        tensor: String,
        /// Offset from the start of the tensor data.
        offset: u64,
        /// Expected offset.
        expected: u64,
    },
    /// A gap between two tensors.
    #[error(
        "tensor `{tensor}` starts at offset {offset}, leaving a gap after the previous tensor, which ends at {expected}"
    )]
    Gap {
        /// Name of the tensor.
        tensor: String,
        /// Offset from the start of the tensor data.
        offset: u64,
        /// Expected offset.
        expected: u64,
    },
    /// A tensor that extends past the end of the file.
    #[error("tensor `{tensor}` needs {bytes} bytes at file offset {start}, but only {left} are left")]
    PastEnd {
        /// Name of the tensor.
        tensor: String,
        /// Start offset in the file.
        start: u64,
        /// Size in bytes.
        bytes: u64,
        /// Bytes from the start offset to the end of the file.
        left: u64,
    },
}
