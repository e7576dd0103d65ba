//! `Trailer`: the last 32 bytes of a sealed segment.

use std::ops::Range;

use super::cursor::Cursor;
use super::{SegmentError, SegmentHeader};
use crate::crc::crc32c_after;

const MAGIC: [u8; 8] = *b"BGSEGEND";
/// Bytes that the checksum is of.
const SIGNED: usize = 20;

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

    /// Reads the last [`LEN`](Self::LEN) bytes of a segment of `segment_len` bytes. `None` if the segment is not sealed.
    ///
    /// # Errors
    /// [`SegmentError::Checksum`], [`SegmentError::Value`], [`SegmentError::Length`] if it is sealed but damaged.
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
        // Either alone is one flipped bit away from a sealed segment.
        match (cursor.array(what)? == MAGIC, stored == computed) {
            (false, false) => return Ok(None),
            (true, false) => return Err(SegmentError::Checksum { what: "the trailer", offset, stored, computed }),
            (false, true) => return Err(SegmentError::Value { what: "the magic of the trailer", offset: offset + 24 }),
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

    /// Where the index is in the segment.
    #[must_use]
    pub const fn index(&self) -> Range<u64> {
        self.index_offset..self.index_offset + self.index_len
    }
}
