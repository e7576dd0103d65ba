//! `RecordView`: a record in bytes that hold at least its head.

use std::ops::Range;

use super::{Head, SegmentError, SegmentHeader};

/// Bytes a record has, as its first bytes say. Nothing was checked yet: hold them against the length of the segment before
/// so many bytes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Bytes before the body.
    pub head: u64,
    /// Bytes of the whole record.
    pub total: u64,
}

/// A record whose head was checked. The body may be elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordView<'a> {
    /// What it says.
    pub head: Head<'a>,
    /// Bytes before the body.
    pub head_len: usize,
    /// Bytes of the body.
    pub body_len: usize,
    /// Where the record begins in its segment.
    offset: u64,
    /// Checksum of each chunk of the body.
    checksums: &'a [[u8; 4]],
}

impl<'a> RecordView<'a> {
    /// Bytes from which [`needed`](Self::needed) can always tell.
    pub const PREFIX: usize = 17;

    /// How long a record is that begins with `prefix`.
    ///
    /// # Errors
    /// [`SegmentError::Truncated`] if `prefix` is shorter than [`PREFIX`](Self::PREFIX) and too short for this record;
    /// [`SegmentError::Value`] for lengths that no writer makes.
    pub fn needed(prefix: &[u8]) -> Result<Needed, SegmentError> {
        todo!()
    }

    /// Reads and checks the head of the record that `bytes` begin with. The body need not be in them. `offset`, where the
    /// record begins in its segment, is for the errors.
    ///
    /// # Errors
    /// Any [`SegmentError`].
    pub fn parse(bytes: &'a [u8], offset: u64, header: &SegmentHeader) -> Result<Self, SegmentError> {
        todo!()
    }

    /// Bytes of head and body.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.head_len as u64 + self.body_len as u64
    }

    /// The body in `bytes`, which begin with the record; not checked.
    ///
    /// # Errors
    /// [`SegmentError::Truncated`].
    pub fn body<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], SegmentError> {
        todo!()
    }

    /// Checks a whole body.
    ///
    /// # Errors
    /// [`SegmentError::Length`], [`SegmentError::Checksum`] of the first chunk that is not as it was written.
    pub fn check_body(&self, body: &[u8]) -> Result<(), SegmentError> {
        todo!()
    }

    /// The smallest range of bytes of the body that has `part` in it and can be checked: whole chunks.
    #[must_use]
    pub fn chunks_of(&self, part: Range<usize>) -> Range<usize> {
        todo!()
    }

    /// Checks `bytes`, which are the body from `start` on, where `start` is that of a chunk, and end with a chunk.
    ///
    /// # Errors
    /// [`SegmentError::Length`] if they are not whole chunks of the body, [`SegmentError::Checksum`].
    pub fn check_chunks(&self, start: usize, bytes: &[u8]) -> Result<(), SegmentError> {
        todo!()
    }
}
