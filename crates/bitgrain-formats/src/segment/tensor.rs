//! `TensorHead`: what is said of a tensor beside its values.

use std::ops::Range;

use bitgrain_codec::{BitWidth, BlockFormat};

use super::{Accuracy, Reconstruct, SegmentError};

/// How a body holds the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// As f32.
    Raw,
    /// As blocks (`spec/blocks.md`).
    Blocks(BlockFormat),
    /// Not at all.
    Absent,
    /// In records of frames: the tensor is temporal, and this record says what is the same for all of them.
    Frames,
}

/// An [`Encoding`] without the length of its blocks: one byte together with the tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// f32.
    Raw,
    /// Blocks with one scale, or a frame.
    Blocks(BitWidth),
    /// Blocks of 3 bits with two scales.
    TwoLevel,
    /// No values.
    Absent,
    /// Values in records of frames.
    Frames,
}

/// A tensor without its values.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorHead<'a> {
    /// Lengths of the axes.
    pub shape: Vec<usize>,
    /// Tier it is at, 0 (lossless) to 5 (absent).
    pub tier: u8,
    /// How the body holds the values.
    pub encoding: Encoding,
    /// How far values can be from those that were put.
    pub accuracy: Accuracy,
    /// When the id was first put.
    pub created: u64,
    /// When values were last put: the record may be later, if it was only encoded anew.
    pub updated: u64,
    /// Tier it is held at.
    pub pinned: Option<u8>,
    /// Largest bound it may get.
    pub max_error: Option<f32>,
    /// What the user wrote down, in the order given.
    pub user: Vec<(&'a str, &'a str)>,
    /// How it comes back when its data is gone.
    pub reconstruct: Option<Reconstruct<'a>>,
}

/// Where the parts of a tensor's body are, in bytes from the beginning of the body. What is not there is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyParts {
    /// The values.
    pub data: Range<usize>,
    /// Blocks of the difference to the base.
    pub delta: Range<usize>,
    /// The permutation, as u32.
    pub permutation: Range<usize>,
    /// The projection, as f32.
    pub projection: Range<usize>,
}

impl TensorHead<'_> {
    /// Number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        todo!()
    }

    /// Where the parts of the body are; the last one ends where the body does. `None` if they do not fit in memory.
    #[must_use]
    pub fn parts(&self) -> Option<BodyParts> {
        todo!()
    }
}
