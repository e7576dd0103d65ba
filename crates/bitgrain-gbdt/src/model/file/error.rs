//! What can be wrong with a model's file.

use crate::model::ModelError;

/// Why bytes are not a model's file that this version reads.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file begins with something else.
    #[error("not a model file: it does not begin with BGMODEL")]
    Magic,
    /// A version that came later.
    #[error("model file version {version} is not supported, version {} is; update bitgrain to read it", super::VERSION)]
    Version {
        /// The version of the file.
        version: u32,
    },
    /// The file is shorter or longer than it says.
    #[error("the file has {found} bytes, {expected} are expected: it was cut or added to")]
    Length {
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// Some bytes are not those that were written.
    #[error("the checksum is {found:08x}, the file says {expected:08x}: it was damaged")]
    Checksum {
        /// What the file says.
        expected: u32,
        /// What its bytes give.
        found: u32,
    },
    /// A section that must be understood and is not known.
    #[error("section {} is not known and may not be skipped; update bitgrain to read it", tag.escape_ascii())]
    UnknownSection {
        /// Its name.
        tag: [u8; 4],
    },
    /// A section that is there twice.
    #[error("section {} is there twice", tag.escape_ascii())]
    DuplicateSection {
        /// Its name.
        tag: [u8; 4],
    },
    /// A section that must be there.
    #[error("section {} is not there", tag.escape_ascii())]
    MissingSection {
        /// Its name.
        tag: [u8; 4],
    },
    /// A value that the bytes of its section do not hold.
    #[error("{what} needs {needed} bytes at offset {offset}, {left} are left in its section")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where it begins.
        offset: usize,
        /// Bytes it has at least.
        needed: u64,
        /// Bytes there are.
        left: usize,
    },
    /// Bytes behind the last value of a section.
    #[error("section {} has {left} bytes behind its last value", tag.escape_ascii())]
    Trailing {
        /// Its name.
        tag: [u8; 4],
        /// How many.
        left: usize,
    },
    /// A number that does not fit.
    #[error("{what} at offset {offset} is too large")]
    Number {
        /// What was being read.
        what: &'static str,
        /// Where it begins.
        offset: usize,
    },
    /// A number that stands for nothing.
    #[error("{what} at offset {offset} is {value}, which has no meaning")]
    Tag {
        /// What was being read.
        what: &'static str,
        /// Where it is.
        offset: usize,
        /// The number.
        value: u8,
    },
    /// A text that is not UTF-8.
    #[error("{what} at offset {offset} is not UTF-8")]
    NotUtf8 {
        /// What was being read.
        what: &'static str,
        /// Where its first byte is.
        offset: usize,
    },
    /// A key of the metadata that is there twice.
    #[error("key `{key}` is there twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// The parts do not fit together.
    #[error(transparent)]
    Model(#[from] ModelError),
}
