//! The index of a sealed segment: an entry for each record, in their order, so that only lengths are stored.

use super::cursor::Cursor;
use super::entry::Previous;
use super::{Entry, Head, SegmentError, SegmentHeader, Trailer};
use crate::crc::crc32c_after;

/// Collects the index while records are written. A few bytes for each record.
#[derive(Debug, Clone)]
pub struct IndexBuilder {
    bytes: Vec<u8>,
    previous: Previous,
}

impl IndexBuilder {
    /// The index of a segment without records.
    #[must_use]
    pub fn new(header: &SegmentHeader) -> Self {
        Self { bytes: Vec::new(), previous: Previous::new(header) }
    }

    /// Adds the record of `length` bytes that comes next.
    ///
    /// # Errors
    /// [`SegmentError::Unwritable`], [`SegmentError::TooLong`]: of a head that could not be written either.
    pub fn push(&mut self, head: &Head<'_>, length: u64) -> Result<(), SegmentError> {
        let before = self.bytes.len();
        let entry = Entry::of(head, self.end(), length);
        entry.write(&mut self.previous, &mut self.bytes).inspect_err(|_| self.bytes.truncate(before))
    }

    /// Adds `length` bytes that are no record.
    pub fn push_hole(&mut self, length: u64) {
        self.previous.write_hole(length, &mut self.bytes);
    }

    /// Where the next record begins.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.previous.end
    }

    /// Index and trailer: what is written behind the last record to seal the segment.
    #[must_use]
    pub fn finish(&self, header: &SegmentHeader) -> Vec<u8> {
        let index_crc = crc32c_after(header.salt(), &self.bytes);
        let trailer = Trailer { index_offset: self.end(), index_len: self.bytes.len() as u64, index_crc };
        [&self.bytes[..], &trailer.encode(header)].concat()
    }
}

/// The index of a sealed segment, checked.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    bytes: &'a [u8],
    header: SegmentHeader,
    /// Where the index begins.
    offset: u64,
}

impl<'a> Index<'a> {
    /// Checks the bytes at [`Trailer::index`].
    ///
    /// # Errors
    /// [`SegmentError::Length`], [`SegmentError::Checksum`].
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

    /// The entries, in the order of the records.
    #[must_use]
    pub fn entries(&self) -> Entries<'a> {
        let cursor = Cursor::new(self.bytes, self.offset);
        Entries { cursor, previous: Previous::new(&self.header), records_end: self.offset }
    }
}

/// The entries of an index one after another.
///
/// Not an iterator: an entry borrows its id, which is put together from the one before.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    cursor: Cursor<'a>,
    previous: Previous,
    records_end: u64,
}

impl Entries<'_> {
    /// The next entry. `None` behind the last one, when the lengths add up to where the index begins.
    ///
    /// # Errors
    /// [`SegmentError::Value`], [`SegmentError::Truncated`], [`SegmentError::Length`]. Ask no further then.
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
