//! The index of a sealed segment: one entry per record, in order, so that offsets follow from lengths.

use super::cursor::Cursor;
use super::entry::Previous;
use super::{Entry, Head, SegmentError, SegmentHeader, Trailer};
use crate::crc::crc32c_after;

/// Builds the index while records are written. Takes a few bytes per record.
#[derive(Debug, Clone)]
pub struct IndexBuilder {
    bytes: Vec<u8>,
    previous: Previous,
}

impl IndexBuilder {
    /// Creates an empty index.
    #[must_use]
    pub fn new(header: &SegmentHeader) -> Self {
        Self { bytes: Vec::new(), previous: Previous::new(header) }
    }

    /// Adds the next record, of `length` bytes.
    ///
    /// # Errors
    /// Returns [`SegmentError::Unwritable`] or [`SegmentError::TooLong`] for a head that could not be written either.
    pub fn push(&mut self, head: &Head<'_>, length: u64) -> Result<(), SegmentError> {
        let before = self.bytes.len();
        let entry = Entry::of(head, self.end(), length);
        entry.write(&mut self.previous, &mut self.bytes).inspect_err(|_| self.bytes.truncate(before))
    }

    /// Adds `length` bytes that are not a record.
    pub fn push_hole(&mut self, length: u64) {
        self.previous.write_hole(length, &mut self.bytes);
    }

    /// Returns the offset of the next record.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.previous.end
    }

    /// Returns the index and trailer, which are written after the last record to seal the segment.
    #[must_use]
    pub fn finish(&self, header: &SegmentHeader) -> Vec<u8> {
        let index_crc = crc32c_after(header.salt(), &self.bytes);
        let trailer = Trailer { index_offset: self.end(), index_len: self.bytes.len() as u64, index_crc };
        [&self.bytes[..], &trailer.encode(header)].concat()
    }
}

/// The verified index of a sealed segment.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    bytes: &'a [u8],
    header: SegmentHeader,
    /// Offset of the index.
    offset: u64,
}

impl<'a> Index<'a> {
    /// Verifies the bytes at [`Trailer::index`].
    ///
    /// # Errors
    /// Returns [`SegmentError::Length`] or [`SegmentError::Checksum`].
    pub fn parse(bytes: &'a [u8], trailer: &Trailer, header: &SegmentHeader) -> Result<Self, SegmentError> {
        let (offset, expected, found) = (trailer.index_offset, trailer.index_len, bytes.len() as u64);
        if found != expected {
            return Err(SegmentError::Length { what: "the index", offset, expected, found });
        }
        let (stored, computed) = (trailer.index_crc, crc32c_after(header.salt(), bytes));
        if stored != computed {
            return Err(SegmentError::Checksum { what: "the index", offset, stored, computed });
        }
        Ok(Self { bytes, header: *header, offset })
    }

    /// Returns the entries, in record order.
    #[must_use]
    pub fn entries(&self) -> Entries<'a> {
        let cursor = Cursor::new(self.bytes, self.offset);
        Entries { cursor, previous: Previous::new(&self.header), records_end: self.offset }
    }
}

/// Reader of the entries of an index.
///
/// Not an iterator: an entry borrows its id from the reader, which decodes it from the previous one.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    cursor: Cursor<'a>,
    previous: Previous,
    records_end: u64,
}

impl Entries<'_> {
    /// Returns the next entry, or `None` after the last one, if the lengths add up to the offset of the index.
    ///
    /// # Errors
    /// Returns [`SegmentError::Value`], [`SegmentError::Truncated`] or [`SegmentError::Length`]. Do not call it again
    /// after an error.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend")]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, SegmentError> {
        if self.cursor.left() > 0 {
            return Entry::read(&mut self.previous, &mut self.cursor, self.records_end).map(Some);
        }
        let (expected, found) = (self.records_end, self.previous.end);
        if found == expected {
            Ok(None)
        } else {
            Err(SegmentError::Length { what: "the records", offset: 0, expected, found })
        }
    }
}
