//! Errors of the model file reader.

use crate::model::ModelError;

/// Reason why bytes are not a readable model file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file with another magic number.
    #[error("not a model file: it does not start with `BGMODEL`")]
    Magic,
    /// A newer version.
    #[error(
        "unsupported model file version {version}, expected {}; update bitgrain to read newer files",
        super::VERSION
    )]
    Version {
        /// Version of the file.
        version: u32,
    },
    /// A file of another length than its header declares.
    #[error("the file has {found} bytes instead of {expected}; it was truncated or extended")]
    Length {
        /// Declared length in bytes.
        expected: u64,
        /// Actual length in bytes.
        found: u64,
    },
    /// A checksum mismatch.
    #[error("checksum mismatch: computed {found:08x}, stored {expected:08x}; the file is corrupt")]
    Checksum {
        /// Stored checksum.
        expected: u32,
        /// Computed checksum.
        found: u32,
    },
    /// An unknown section that is marked as required.
    #[error("unknown required section `{}`; update bitgrain to read it", tag.escape_ascii())]
    UnknownSection {
        /// Name of the section.
        tag: [u8; 4],
    },
    /// A section that occurs twice.
    #[error("duplicate section `{}`", tag.escape_ascii())]
    DuplicateSection {
        /// Name of the section.
        tag: [u8; 4],
    },
    /// A missing section.
    #[error("missing section `{}`", tag.escape_ascii())]
    MissingSection {
        /// Name of the section.
        tag: [u8; 4],
    },
    /// A value that extends beyond its section.
    #[error("truncated {what} at offset {offset}: needs {needed} bytes, but its section has {left} left")]
    Truncated {
        /// Description of the value.
        what: &'static str,
        /// Offset of the value.
        offset: usize,
        /// Minimum size of the value in bytes.
        needed: u64,
        /// Bytes left in the section.
        left: usize,
    },
    /// Bytes after the last value of a section.
    #[error("section `{}` has {left} bytes after its last value", tag.escape_ascii())]
    Trailing {
        /// Name of the section.
        tag: [u8; 4],
        /// Number of extra bytes.
        left: usize,
    },
    /// A number that is out of range.
    #[error("{what} at offset {offset} is too large")]
    Number {
        /// Description of the number.
        what: &'static str,
        /// Offset of the number.
        offset: usize,
    },
    /// An unknown enumeration value.
    #[error("unknown {what} at offset {offset}: {value}")]
    Tag {
        /// Description of the value.
        what: &'static str,
        /// Offset of the value.
        offset: usize,
        /// The value.
        value: u8,
    },
    /// A string that is not UTF-8.
    #[error("{what} at offset {offset} is not UTF-8")]
    NotUtf8 {
        /// Description of the string.
        what: &'static str,
        /// Offset of its first byte.
        offset: usize,
    },
    /// A metadata key that occurs twice.
    #[error("duplicate metadata key `{key}`")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// An inconsistent model.
    #[error(transparent)]
    Model(#[from] ModelError),
}
