//! Model file format. Spec: `spec/model.md`.
//!
//! A header, sections that are marked as required or optional, and a checksum over everything: truncation and flipped
//! bits are always detected, and sections of later versions can be told from corruption.

mod cursor;
mod disk;
mod error;
mod reader;
mod writer;

pub use disk::{LoadError, SaveError};
pub use error::FileError;

use super::{Link, Missing, Model, ModelError};

/// Usual extension of model files.
pub const EXTENSION: &str = "bitgrain";

/// Magic number at the start of a file.
const MAGIC: [u8; 8] = *b"BGMODEL\0";
/// Supported version.
const VERSION: u32 = 1;
/// Size of the header in bytes.
const HEAD: usize = 24;
/// Size of the checksum in bytes.
const TAIL: usize = 4;
/// Section flag: a reader that does not know the section must reject the file.
const REQUIRED: u32 = 1;

const INPUTS: [u8; 4] = *b"inpt";
const OUTPUT: [u8; 4] = *b"outp";
const TREES: [u8; 4] = *b"tree";
const METADATA: [u8; 4] = *b"meta";

/// Bits of the first byte of a split.
mod bits {
    pub(super) const RULE: u8 = 0b11;
    pub(super) const AT_MOST: u8 = 0;
    pub(super) const IN: u8 = 1;
    pub(super) const NOT_IN: u8 = 2;
    pub(super) const MISSING: u32 = 2;
    pub(super) const MISSING_LEFT: u8 = 1 << 4;
    pub(super) const LEFT_LEAF: u8 = 1 << 5;
    pub(super) const RIGHT_LEAF: u8 = 1 << 6;
    pub(super) const SPARE: u8 = 1 << 7;
}

/// Kinds of missing values; the index is the number in the file.
const MISSING: [Missing; 3] = [Missing::Nan, Missing::NanOrZero, Missing::Nothing];

/// Returns the number of a link function in the file.
const fn link_number(link: Link) -> u8 {
    match link {
        Link::Identity => 0,
        Link::Logistic { .. } => 1,
        Link::Softmax => 2,
        Link::Exponential => 3,
        Link::Softplus => 4,
        Link::SignedSquare => 5,
        Link::Step => 6,
    }
}

impl Model {
    /// Returns whether bytes start with the magic number of a model file.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Encodes the model as a model file.
    ///
    /// # Errors
    /// Returns the error of [`check`](Self::check).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        self.check()?;
        Ok(writer::write(self))
    }

    /// Decodes a model file. The model has passed [`check`](Self::check).
    ///
    /// # Errors
    /// Returns a [`FileError`] if the file is not valid.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let model = reader::read(bytes)?;
        model.check()?;
        Ok(model)
    }
}
