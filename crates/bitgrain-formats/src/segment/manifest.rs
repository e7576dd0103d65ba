//! `Manifest`: which segments of a store count.

use super::SegmentError;

/// A compacted segment that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CompactedSegment {
    /// Its number.
    pub number: u64,
    /// Its bytes.
    pub len: u64,
    /// Checksum of its index, [`Trailer::index_crc`](super::Trailer::index_crc).
    pub index_crc: u32,
}

/// Which segments of a store count: those listed here, and all log segments from a number on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Manifest {
    /// The store it belongs to.
    pub store: [u8; 16],
    /// Its number: the highest one that is whole counts.
    pub number: u64,
    /// Log segments with this number or a higher one count.
    pub log_from: u64,
    /// Compacted segments that count.
    pub compacted: Vec<CompactedSegment>,
}

impl Manifest {
    /// The manifest as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        todo!()
    }

    /// Reads the manifest that `bytes` are the whole of.
    ///
    /// # Errors
    /// [`SegmentError::Truncated`], [`SegmentError::Foreign`], [`SegmentError::Checksum`],
    /// [`SegmentError::FutureVersion`], [`SegmentError::Length`].
    pub fn parse(bytes: &[u8]) -> Result<Self, SegmentError> {
        todo!()
    }
}
