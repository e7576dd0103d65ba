//! `Head`: everything a record says before its body.

use super::{FrameHead, IdRef, SegmentError, SegmentHeader, TensorHead};

/// Everything a record says before its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Head<'a> {
    /// Its place in the history of the store.
    pub stamp: Stamp,
    /// What it is about.
    pub content: Content<'a>,
}

/// The place of a record in the history of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Position in the order of all changes: of two records of an id the one with the higher number counts.
    pub sequence: u64,
    /// Records that follow in the same batch. Without the last one, which has 0, a batch never happened.
    pub batch_left: u32,
    /// Bytes of this segment that were known to be durable when the record was written.
    pub durable: Option<u64>,
    /// When it was written, in milliseconds since 1970.
    pub time: u64,
}

/// What a record is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// A tensor, its values in the body.
    Tensor(IdRef<'a>, TensorHead<'a>),
    /// A frame of a temporal tensor.
    Frame(IdRef<'a>, FrameHead),
    /// A tensor and all of its frames that were written before are gone.
    Delete(IdRef<'a>),
    /// How tensors were used: the body is a [`UsageList`](super::UsageList).
    Usage,
}

impl<'a> Content<'a> {
    /// The tensor it is about.
    #[must_use]
    pub const fn id(&self) -> Option<IdRef<'a>> {
        match *self {
            Self::Tensor(id, _) | Self::Frame(id, _) | Self::Delete(id) => Some(id),
            Self::Usage => None,
        }
    }
}
