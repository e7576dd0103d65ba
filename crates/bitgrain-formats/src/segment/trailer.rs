//! `Trailer`: the last 32 bytes of a sealed segment.

use std::ops::Range;

use super::cursor::Cursor;
use super::{SegmentError, SegmentHeader};
use crate::crc::crc32c_after;

const MAGIC: [u8; 8] = *b"BGSEGEND";
/// Number of bytes covered by the checksum.
const SIGNED: usize = 20;

/// Location of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trailer {
    /// Offset of the index, which is the end of the records.
    pub index_offset: u64,
    /// Length of the index in bytes.
    pub index_len: u64,
    /// Checksum of the index. The manifest contains it too.
    pub index_crc: u32,
}

impl Trailer {
    /// Size of a trailer in bytes.
    pub const LEN: usize = 32;

    pub(super) fn encode(&self, header: &SegmentHeader) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.index_offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.index_len.to_le_bytes());
        bytes[16..SIGNED].copy_from_slice(&self.index_crc.to_le_bytes());
        let crc = crc32c_after(header.salt(), &bytes[..SIGNED]);
        bytes[SIGNED..24].copy_from_slice(&crc.to_le_bytes());
        bytes[24..].copy_from_slice(&MAGIC);
        bytes
    }

    /// Reads the last [`LEN`](Self::LEN) bytes of a segment of `segment_len` bytes. `None` if the segment is not
    /// sealed.
    ///
    /// # Errors
    /// Returns [`SegmentError::Checksum`], [`SegmentError::Value`] or [`SegmentError::Length`] if it is sealed but
    /// damaged.
    pub fn parse(
        tail: &[u8; Self::LEN],
        header: &SegmentHeader,
        segment_len: u64,
    ) -> Result<Option<Self>, SegmentError> {
        let offset = segment_len.saturating_sub(Self::LEN as u64);
        let mut cursor = Cursor::new(tail, offset);
        let what = "trailer";
        let trailer =
            Self { index_offset: cursor.u64(what)?, index_len: cursor.u64(what)?, index_crc: cursor.u32(what)? };
        let (stored, computed) = (cursor.u32(what)?, crc32c_after(header.salt(), &tail[..SIGNED]));
        // If only one of the two matches, a single flipped bit can have damaged a sealed segment, so it is not "not
        // sealed".
        match (cursor.array(what)? == MAGIC, stored == computed) {
            (false, false) => return Ok(None),
            (true, false) => return Err(SegmentError::Checksum { what: "the trailer", offset, stored, computed }),
            (false, true) => return Err(SegmentError::Value { what: "trailer magic number", offset: offset + 24 }),
            (true, true) => {}
        }
        let end = trailer.index_offset.checked_add(trailer.index_len);
        if trailer.index_offset < SegmentHeader::LEN as u64 || end != Some(offset) {
            let expected = offset.saturating_sub(trailer.index_offset);
            let (what, offset) = ("the index", trailer.index_offset);
            return Err(SegmentError::Length { what, offset, expected, found: trailer.index_len });
        }
        Ok(Some(trailer))
    }

    /// Returns the byte range of the index in the segment.
    #[must_use]
    pub const fn index(&self) -> Range<u64> {
        self.index_offset..self.index_offset + self.index_len
    }
}
