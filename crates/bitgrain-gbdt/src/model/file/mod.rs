//! The model's own file. Spec: `spec/model.md`.
//!
//! A head, sections that say whether they may be skipped, and a checksum over all of it: no cut and no flipped bit goes
//! unnoticed, and what later versions add can be told from damage.

mod cursor;
mod disk;
mod error;
mod reader;
mod writer;

pub use disk::{LoadError, SaveError};
pub use error::FileError;

use super::{Link, Missing, Model, ModelError};

/// The usual ending of a model's file.
pub const EXTENSION: &str = "bitgrain";

/// What a file begins with.
const MAGIC: [u8; 8] = *b"BGMODEL\0";
/// The version that is written and read.
const VERSION: u32 = 1;
/// Bytes before the first section.
const HEAD: usize = 24;
/// Bytes of the checksum.
const TAIL: usize = 4;
/// A reader that does not know the section must refuse the file.
const REQUIRED: u32 = 1;

const INPUTS: [u8; 4] = *b"inpt";
const OUTPUT: [u8; 4] = *b"outp";
const TREES: [u8; 4] = *b"tree";
const METADATA: [u8; 4] = *b"meta";

/// Bits of a split's first byte.
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

/// The number of each way to be missing is its place.
const MISSING: [Missing; 3] = [Missing::Nan, Missing::NanOrZero, Missing::Nothing];

/// The number that stands for a link.
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
    /// Whether bytes begin as a model's file does.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// The bytes of the model's file.
    ///
    /// # Errors
    /// If the model does not pass [`check`](Self::check).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        self.check()?;
        Ok(writer::write(self))
    }

    /// Reads a model's file. What comes back has passed [`check`](Self::check).
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let model = reader::read(bytes)?;
        model.check()?;
        Ok(model)
    }
}
