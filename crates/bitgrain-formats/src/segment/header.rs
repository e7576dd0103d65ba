//! `SegmentHeader`: the first 64 bytes of a segment.

use super::{SegmentError, VERSION};

/// How a segment came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Records in the order in which they were written.
    Log,
    /// What was left of other segments.
    Compacted,
}

/// What a segment says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentHeader {
    /// How it came about.
    pub kind: SegmentKind,
    /// The store it belongs to.
    pub store: [u8; 16],
    /// Its number: no two segments or manifests of a store have the same.
    pub number: u64,
    /// Number of the log segment before this one; 0 if there is none.
    pub previous: u64,
    /// Sequence numbers of the records are counted from here. A record before it is fine, but longer.
    pub base_sequence: u64,
    /// Times of the records are counted from here, likewise.
    pub base_time: u64,
}

const MAGIC: [u8; 8] = *b"BGSEGMT\0";
const WHAT: &str = "segment";

impl SegmentHeader {
    /// Bytes of a header.
    pub const LEN: usize = 64;

    /// The header as bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::LEN] {
        todo!()
    }

    /// Reads the header at the beginning of `bytes`.
    ///
    /// # Errors
    /// [`SegmentError::Truncated`] if there are fewer than [`LEN`](Self::LEN) bytes, [`SegmentError::Foreign`],
    /// [`SegmentError::Checksum`], [`SegmentError::FutureVersion`], [`SegmentError::Value`].
    pub fn parse(bytes: &[u8]) -> Result<Self, SegmentError> {
        todo!()
    }
}
