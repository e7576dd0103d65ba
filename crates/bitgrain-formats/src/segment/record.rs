//! `RecordView`: a parsed record in bytes that contain at least its head.

use std::ops::Range;

use super::cursor::Cursor;
use super::{CHUNK, Head, MAX_HEAD, SegmentError, SegmentHeader, put};
use crate::crc::{crc32c, crc32c_after};

/// Size of a checksum in bytes.
pub(super) const CRC_LEN: usize = 4;

/// Size of a record according to its first bytes. Not verified: compare it with the length of the segment before
/// reading that many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Size in bytes of everything before the body.
    pub head: u64,
    /// Size of the record in bytes.
    pub total: u64,
}

/// A record whose head was verified. The body can be stored separately.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordView<'a> {
    /// Parsed head.
    pub head: Head<'a>,
    /// Size in bytes of everything before the body.
    pub head_len: usize,
    /// Size of the body in bytes.
    pub body_len: usize,
    /// Offset of the record in its segment.
    offset: u64,
    /// Checksum of each chunk of the body.
    checksums: &'a [[u8; 4]],
}

impl<'a> RecordView<'a> {
    /// Number of bytes that always suffice for [`needed`](Self::needed).
    pub const PREFIX: usize = 17;

    /// Returns the size of a record that starts with `prefix`.
    ///
    /// # Errors
    /// Returns [`SegmentError::Truncated`] if `prefix` is shorter than [`PREFIX`](Self::PREFIX) and too short for this
    /// record, or [`SegmentError::Value`] for invalid lengths.
    pub fn needed(prefix: &[u8]) -> Result<Needed, SegmentError> {
        let Lengths { before_head, head, table, body } = Lengths::read(prefix, 0)?;
        let head = (before_head + head) as u64 + table;
        Ok(Needed { head, total: head.saturating_add(body) })
    }

    /// Parses and verifies the head of the record at the start of `bytes`, which need not contain the body. `offset` is
    /// the offset of the record in its segment, for error messages.
    ///
    /// # Errors
    /// Returns a [`SegmentError`] if the head is invalid.
    pub fn parse(bytes: &'a [u8], offset: u64, header: &SegmentHeader) -> Result<Self, SegmentError> {
        Self::parse_salted(bytes, offset, header, header.salt())
    }

    /// Like [`parse`](Self::parse), with the [`salt`](SegmentHeader::salt) of the header.
    ///
    /// # Errors
    /// Returns a [`SegmentError`] if the head is invalid.
    pub fn parse_salted(bytes: &'a [u8], offset: u64, header: &SegmentHeader, salt: u32) -> Result<Self, SegmentError> {
        let unchecked = Unchecked::read(bytes, offset)?;
        unchecked.check(salt)?;
        unchecked.view(header)
    }

    /// Like [`parse`](Self::parse), but verifies the checksum last, which is faster when most bytes are not a record.
    pub(super) fn find(bytes: &'a [u8], header: &SegmentHeader, salt: u32) -> Result<Self, SegmentError> {
        let unchecked = Unchecked::read(bytes, 0)?;
        let view = unchecked.view(header)?;
        unchecked.check(salt)?;
        Ok(view)
    }

    /// Returns the size of head and body in bytes.
    #[must_use]
    pub const fn total_len(&self) -> u64 {
        self.head_len as u64 + self.body_len as u64
    }

    /// Returns the unverified body from `bytes`, which start with the record.
    ///
    /// # Errors
    /// Returns [`SegmentError::Truncated`] if `bytes` end too early.
    pub fn body<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], SegmentError> {
        let mut cursor = Cursor::new(bytes, self.offset);
        cursor.take("record head", self.head_len as u64)?;
        cursor.take("record body", self.body_len as u64)
    }

    /// Verifies a complete body.
    ///
    /// # Errors
    /// Returns [`SegmentError::Length`], or [`SegmentError::Checksum`] with the first damaged chunk.
    pub fn check_body(&self, body: &[u8]) -> Result<(), SegmentError> {
        if body.len() == self.body_len { self.check_chunks(0, body) } else { Err(self.wrong_length(0, body.len())) }
    }

    /// Returns the smallest verifiable byte range of the body that contains `part`: whole chunks.
    #[must_use]
    pub fn chunks_of(&self, part: Range<usize>) -> Range<usize> {
        let end = part.end.min(self.body_len).div_ceil(CHUNK).saturating_mul(CHUNK).min(self.body_len);
        (part.start / CHUNK * CHUNK).min(end)..end
    }

    /// Verifies `bytes`, the part of the body from `start`. Both ends must be at chunk boundaries.
    ///
    /// # Errors
    /// Returns [`SegmentError::Length`] if they are not whole chunks of the body, or [`SegmentError::Checksum`].
    pub fn check_chunks(&self, start: usize, bytes: &[u8]) -> Result<(), SegmentError> {
        let end = start.checked_add(bytes.len()).filter(|&end| end <= self.body_len);
        let whole = end.is_some_and(|end| end.is_multiple_of(CHUNK) || end == self.body_len);
        if !start.is_multiple_of(CHUNK) || !whole {
            return Err(self.wrong_length(start, bytes.len()));
        }
        let sums = self.checksums.iter().skip(start / CHUNK);
        for (i, (chunk, sum)) in bytes.chunks(CHUNK).zip(sums).enumerate() {
            let (stored, computed) = (u32::from_le_bytes(*sum), crc32c(chunk));
            if stored != computed {
                let offset = self.offset + (self.head_len + start + i * CHUNK) as u64;
                return Err(SegmentError::Checksum { what: "a chunk of the body", offset, stored, computed });
            }
        }
        Ok(())
    }

    fn wrong_length(&self, start: usize, found: usize) -> SegmentError {
        let expected = self.chunks_of(start..start.saturating_add(found)).len() as u64;
        let offset = self.offset + self.head_len as u64 + start as u64;
        SegmentError::Length { what: "a part of the body", offset, expected, found: found as u64 }
    }
}

/// Lengths at the start of a record.
struct Lengths {
    /// Size in bytes of the part before the head.
    before_head: usize,
    head: usize,
    /// Size in bytes of the chunk checksums.
    table: u64,
    body: u64,
}

impl Lengths {
    fn read(bytes: &[u8], offset: u64) -> Result<Self, SegmentError> {
        let mut cursor = Cursor::new(bytes, offset);
        cursor.u32("head checksum")?;
        let at = cursor.offset();
        let head = cursor.size("head length")?;
        if head == 0 || head > MAX_HEAD {
            return Err(SegmentError::Value { what: "head length", offset: at });
        }
        let body = cursor.varint("body length")?;
        let before_head = CRC_LEN + put::varint_len(head as u64) + put::varint_len(body);
        Ok(Self { before_head, head, table: body.div_ceil(CHUNK as u64) * CRC_LEN as u64, body })
    }
}

/// A record whose head is complete but not verified.
pub(super) struct Unchecked<'a> {
    offset: u64,
    before_head: usize,
    /// The record up to its body.
    bytes: &'a [u8],
    head: usize,
    /// Size of the body in bytes.
    pub(super) body: u64,
}

impl<'a> Unchecked<'a> {
    pub(super) fn read(bytes: &'a [u8], offset: u64) -> Result<Self, SegmentError> {
        let Lengths { before_head, head, table, body } = Lengths::read(bytes, offset)?;
        let needed = (before_head + head) as u64 + table;
        let bytes = Cursor::new(bytes, offset).take("record head", needed)?;
        Ok(Self { offset, before_head, bytes, head, body })
    }

    /// Returns the size in bytes of everything before the body.
    pub(super) const fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the head and the chunk checksums.
    pub(super) fn head_and_table(&self) -> (&'a [u8], &'a [u8]) {
        self.bytes[self.before_head..].split_at(self.head)
    }

    pub(super) fn check(&self, salt: u32) -> Result<(), SegmentError> {
        let (sum, rest) = self.bytes.split_at(CRC_LEN);
        let (stored, computed) = (Cursor::new(sum, self.offset).u32("head checksum")?, crc32c_after(salt, rest));
        if stored != computed {
            return Err(SegmentError::Checksum { what: "the head of a record", offset: self.offset, stored, computed });
        }
        Ok(())
    }

    fn view(&self, header: &SegmentHeader) -> Result<RecordView<'a>, SegmentError> {
        let (head, table) = self.head_and_table();
        let offset = self.offset;
        let head = Head::read(Cursor::new(head, offset + self.before_head as u64), header)?;
        let body_len = usize::try_from(self.body);
        let body_len = body_len.map_err(|_| SegmentError::Value { what: "body length", offset })?;
        if let Some(expected) = head.content.body_len().filter(|&expected| expected != body_len) {
            let expected = expected as u64;
            return Err(SegmentError::Length { what: "the body", offset, expected, found: self.body });
        }
        Ok(RecordView { head, head_len: self.bytes.len(), body_len, offset, checksums: table.as_chunks().0 })
    }
}
