//! What can be wrong with a GGUF file, or with what one is asked to hold.

/// Why bytes are not a GGUF file this crate reads, or why one cannot hold what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GgufError {
    /// The file begins with something else.
    #[error("not a GGUF file: it begins with {}, not with GGUF", found.escape_ascii())]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// A version this crate does not read.
    #[error("GGUF version {version} is not supported, 2 and 3 are")]
    Version {
        /// The version of the file.
        version: u32,
    },
    /// The numbers of the file are big-endian.
    #[error("the file is big-endian (version {version}), only little-endian is supported")]
    BigEndian {
        /// The version of the file, read as a big-endian number.
        version: u32,
    },
    /// The file ends inside its header.
    #[error("{what} needs {needed} bytes at offset {offset}, {left} are left")]
    Truncated {
        /// What was being read, with its key or tensor.
        what: String,
        /// Where it begins.
        offset: u64,
        /// Bytes it has.
        needed: u64,
        /// Bytes there are.
        left: u64,
    },
    /// A number of keys, tensors or elements that the bytes left cannot hold.
    #[error("{count} {what} need at least {least} bytes each, {left} bytes are left")]
    Count {
        /// What is counted, with its key where it has one.
        what: String,
        /// How many the file claims.
        count: u64,
        /// Bytes the smallest one takes.
        least: u64,
        /// Bytes there are.
        left: u64,
    },
    /// A key, name or string that is not UTF-8.
    #[error("{what} at offset {offset} is not UTF-8")]
    NotUtf8 {
        /// What it is, with its key or tensor.
        what: String,
        /// Where its first byte is.
        offset: u64,
    },
    /// A key without characters.
    #[error("key {index} is empty")]
    EmptyKey {
        /// Its place in the file, counted from 0.
        index: u64,
    },
    /// A key that is there twice.
    #[error("key `{key}` is there twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// A value of a type that GGUF does not have.
    #[error("key `{key}` has the unknown value type {id}")]
    ValueType {
        /// The key.
        key: String,
        /// The number that stands for the type.
        id: u32,
    },
    /// An array of arrays, which llama.cpp does not read either.
    #[error("key `{key}` is an array of arrays")]
    NestedArray {
        /// The key.
        key: String,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("key `{key}` has the byte {value} for a boolean at index {index}")]
    Bool {
        /// The key.
        key: String,
        /// Place in the array, 0 for a single value.
        index: u64,
        /// The byte.
        value: u8,
    },
    /// `general.alignment` is not a u32.
    #[error("`general.alignment` is {found}, not u32")]
    AlignmentType {
        /// The type it has.
        found: &'static str,
    },
    /// `general.alignment` is not a power of two.
    #[error("an alignment of {alignment} is not a power of two")]
    Alignment {
        /// The alignment.
        alignment: u32,
    },
    /// A tensor name that is there twice.
    #[error("tensor `{tensor}` is there twice")]
    DuplicateTensor {
        /// The name.
        tensor: String,
    },
    /// A name that llama.cpp would refuse to load; only the writer minds.
    #[error("the name of tensor `{tensor}` has {len} bytes, at most {} are loaded everywhere", super::MAX_NAME)]
    NameTooLong {
        /// The name.
        tensor: String,
        /// Its bytes.
        len: usize,
    },
    /// More dimensions than GGUF has.
    #[error("tensor `{tensor}` has {count} dimensions, at most {} are allowed", super::MAX_DIMS)]
    DimCount {
        /// The name.
        tensor: String,
        /// Its dimensions.
        count: u64,
    },
    /// A tensor type nobody gave a meaning, or one that was taken back.
    #[error("tensor `{tensor}` has the unknown type {id}")]
    TensorType {
        /// The name.
        tensor: String,
        /// The number that stands for the type.
        id: u32,
    },
    /// Dimensions that multiply to more elements or bytes than can be counted.
    #[error("tensor `{tensor}` of dimensions {dims:?} is too large to count")]
    TooLarge {
        /// The name.
        tensor: String,
        /// Its dimensions.
        dims: Vec<u64>,
    },
    /// Rows that are not whole blocks.
    #[error("tensor `{tensor}` has rows of {row} weights, not whole blocks of {block} ({kind})")]
    RaggedRow {
        /// The name.
        tensor: String,
        /// Weights of a row.
        row: u64,
        /// Weights of a block.
        block: u64,
        /// Name of the type.
        kind: &'static str,
    },
    /// An offset that is not a multiple of the alignment.
    #[error("tensor `{tensor}` is at {offset}, which is not a multiple of {alignment}")]
    Misaligned {
        /// The name.
        tensor: String,
        /// Its offset from the start of the data.
        offset: u64,
        /// The alignment.
        alignment: u32,
    },
    /// A tensor that begins inside the one before it.
    #[error("tensor `{tensor}` is at {offset}, before {expected} where the one before it ends")]
    Overlap {
        /// The name.
        tensor: String,
        /// Its offset from the start of the data.
        offset: u64,
        /// Where it should be.
        expected: u64,
    },
    /// Bytes between two tensors that belong to neither.
    #[error("tensor `{tensor}` is at {offset}, behind {expected} where the one before it ends")]
    Gap {
        /// The name.
        tensor: String,
        /// Its offset from the start of the data.
        offset: u64,
        /// Where it should be.
        expected: u64,
    },
    /// A tensor whose bytes are not all there.
    #[error("tensor `{tensor}` needs {bytes} bytes at offset {start} of the file, {left} are left")]
    PastEnd {
        /// The name.
        tensor: String,
        /// Where its bytes begin in the file.
        start: u64,
        /// How many they are.
        bytes: u64,
        /// Bytes from there to the end of the file.
        left: u64,
    },
}
