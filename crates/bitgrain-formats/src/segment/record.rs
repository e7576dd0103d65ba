//! `RecordView`: a record in bytes that hold at least its head.

use std::ops::Range;

use super::cursor::Cursor;
use super::{CHUNK, Head, MAX_HEAD, SegmentError, SegmentHeader, put};
use crate::crc::{crc32c, crc32c_after};

/// Bytes of a checksum.
pub(super) const CRC_LEN: usize = 4;

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
        let Lengths { before_head, head, table, body } = Lengths::read(prefix, 0)?;
        let head = (before_head + head) as u64 + table;
        Ok(Needed { head, total: head.saturating_add(body) })
    }

    /// Reads and checks the head of the record that `bytes` begin with. The body need not be in them. `offset`, where the
    /// record begins in its segment, is for the errors.
    ///
    /// # Errors
    /// Any [`SegmentError`].
    pub fn parse(bytes: &'a [u8], offset: u64, header: &SegmentHeader) -> Result<Self, SegmentError> {
        Self::parse_salted(bytes, offset, header, header.salt())
    }

    /// As [`parse`](Self::parse), with the [`salt`](SegmentHeader::salt) of the header.
    ///
    /// # Errors
    /// Any [`SegmentError`].
    pub fn parse_salted(bytes: &'a [u8], offset: u64, header: &SegmentHeader, salt: u32) -> Result<Self, SegmentError> {
        let unchecked = Unchecked::read(bytes, offset)?;
        unchecked.check(salt)?;
        unchecked.view(header)
    }

    /// As [`parse`](Self::parse), but the checksum comes last: quicker where most bytes are no record.
    pub(super) fn find(bytes: &'a [u8], header: &SegmentHeader, salt: u32) -> Result<Self, SegmentError> {
        let unchecked = Unchecked::read(bytes, 0)?;
        let view = unchecked.view(header)?;
        unchecked.check(salt)?;
        Ok(view)
    }

    /// Bytes of head and body.
    #[must_use]
    pub const fn total_len(&self) -> u64 {
        self.head_len as u64 + self.body_len as u64
    }

    /// The body in `bytes`, which begin with the record; not checked.
    ///
    /// # Errors
    /// [`SegmentError::Truncated`].
    pub fn body<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], SegmentError> {
        let mut cursor = Cursor::new(bytes, self.offset);
        cursor.take("head of the record", self.head_len as u64)?;
        cursor.take("body of the record", self.body_len as u64)
    }

    /// Checks a whole body.
    ///
    /// # Errors
    /// [`SegmentError::Length`], [`SegmentError::Checksum`] of the first chunk that is not as it was written.
    pub fn check_body(&self, body: &[u8]) -> Result<(), SegmentError> {
        if body.len() == self.body_len { self.check_chunks(0, body) } else { Err(self.wrong_length(0, body.len())) }
    }

    /// The smallest range of bytes of the body that has `part` in it and can be checked: whole chunks.
    #[must_use]
    pub fn chunks_of(&self, part: Range<usize>) -> Range<usize> {
        let end = part.end.min(self.body_len).div_ceil(CHUNK).saturating_mul(CHUNK).min(self.body_len);
        (part.start / CHUNK * CHUNK).min(end)..end
    }

    /// Checks `bytes`, which are the body from `start` on, where `start` is that of a chunk, and end with a chunk.
    ///
    /// # Errors
    /// [`SegmentError::Length`] if they are not whole chunks of the body, [`SegmentError::Checksum`].
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

/// The lengths at the beginning of a record.
struct Lengths {
    /// Bytes before the head.
    before_head: usize,
    head: usize,
    /// Bytes of the checksums of the chunks.
    table: u64,
    body: u64,
}

impl Lengths {
    fn read(bytes: &[u8], offset: u64) -> Result<Self, SegmentError> {
        let mut cursor = Cursor::new(bytes, offset);
        cursor.u32("checksum of the head")?;
        let at = cursor.offset();
        let head = cursor.size("length of the head")?;
        if head == 0 || head > MAX_HEAD {
            return Err(SegmentError::Value { what: "length of the head", offset: at });
        }
        let body = cursor.varint("length of the body")?;
        let before_head = CRC_LEN + put::varint_len(head as u64) + put::varint_len(body);
        Ok(Self { before_head, head, table: body.div_ceil(CHUNK as u64) * CRC_LEN as u64, body })
    }
}

/// A record whose head is there, but was not checked.
pub(super) struct Unchecked<'a> {
    offset: u64,
    before_head: usize,
    /// The record up to its body.
    bytes: &'a [u8],
    head: usize,
    /// Bytes of the body.
    pub(super) body: u64,
}

impl<'a> Unchecked<'a> {
    pub(super) fn read(bytes: &'a [u8], offset: u64) -> Result<Self, SegmentError> {
        let Lengths { before_head, head, table, body } = Lengths::read(bytes, offset)?;
        let needed = (before_head + head) as u64 + table;
        let bytes = Cursor::new(bytes, offset).take("head of the record", needed)?;
        Ok(Self { offset, before_head, bytes, head, body })
    }

    /// Bytes before the body.
    pub(super) const fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The head, and the checksums of the chunks.
    pub(super) fn head_and_table(&self) -> (&'a [u8], &'a [u8]) {
        self.bytes[self.before_head..].split_at(self.head)
    }

    pub(super) fn check(&self, salt: u32) -> Result<(), SegmentError> {
        let (sum, rest) = self.bytes.split_at(CRC_LEN);
        let (stored, computed) = (Cursor::new(sum, self.offset).u32("checksum of the head")?, crc32c_after(salt, rest));
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
        let body_len = body_len.map_err(|_| SegmentError::Value { what: "length of the body", offset })?;
        if let Some(expected) = head.content.body_len().filter(|&expected| expected != body_len) {
            let expected = expected as u64;
            return Err(SegmentError::Length { what: "the body", offset, expected, found: self.body });
        }
        Ok(RecordView { head, head_len: self.bytes.len(), body_len, offset, checksums: table.as_chunks().0 })
    }
}
