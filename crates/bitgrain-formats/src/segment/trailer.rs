//! `Trailer`: the last 32 bytes of a sealed segment.

use std::ops::Range;

use super::{SegmentError, SegmentHeader};

/// Says where the index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// Where the index begins, which is where the records end.
    pub index_offset: u64,
    /// Bytes of the index.
    pub index_len: u64,
    /// Checksum of the index. A manifest has it too.
    pub index_crc: u32,
}

impl Trailer {
    /// Bytes of a trailer.
    pub const LEN: usize = 32;

    /// Reads the last [`LEN`](Self::LEN) bytes of a segment of `segment_len` bytes. `None` if the segment is not sealed.
    ///
    /// # Errors
    /// [`SegmentError::Checksum`], [`SegmentError::Length`] if it is sealed but damaged.
    pub fn parse(tail: &[u8; Self::LEN], header: &SegmentHeader, segment_len: u64) -> Result<Option<Self>, SegmentError> {
        todo!()
    }

    /// Where the index is in the segment.
    #[must_use]
    pub const fn index(&self) -> Range<u64> {
        self.index_offset..self.index_offset + self.index_len
    }
}
