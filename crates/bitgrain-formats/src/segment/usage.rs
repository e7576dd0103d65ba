//! Lists of how tensors were used: the bodies of usage records.

use super::{IdRef, SegmentError};

/// How a tensor was used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsageEntry<'a> {
    /// The tensor.
    pub id: IdRef<'a>,
    /// Reads and writes so far.
    pub accesses: u64,
    /// When the last one was.
    pub last: u64,
    /// A bit for each period in which there was one.
    pub window: u64,
    /// Average number of them, recent ones counted more.
    pub ema: f32,
}

/// Collects the body of a usage record.
#[derive(Debug, Clone, Default)]
pub struct UsageList {
    bytes: Vec<u8>,
}

impl UsageList {
    /// Adds a tensor. Ids in order take the fewest bytes.
    ///
    /// # Errors
    /// [`SegmentError::Unwritable`] for an id without characters or an average that is not finite,
    /// [`SegmentError::TooLong`].
    pub fn push(&mut self, entry: &UsageEntry<'_>) -> Result<(), SegmentError> {
        todo!()
    }

    /// The body.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The entries of a usage record's body one after another.
#[derive(Debug, Clone)]
pub struct UsageEntries<'a> {
    bytes: &'a [u8],
}

impl<'a> UsageEntries<'a> {
    /// The entries in `body`.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        todo!()
    }

    /// The next entry; `None` behind the last one.
    ///
    /// # Errors
    /// [`SegmentError::Value`], [`SegmentError::Truncated`]. Ask no further then.
    pub fn next(&mut self) -> Result<Option<UsageEntry<'_>>, SegmentError> {
        todo!()
    }
}
