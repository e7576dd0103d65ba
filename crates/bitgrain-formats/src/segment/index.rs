//! The index of a sealed segment: an entry for each record, in their order, so that only lengths are stored.

use super::{Entry, Head, SegmentError, SegmentHeader, Trailer};

/// Collects the index while records are written. A few bytes for each record.
#[derive(Debug, Clone)]
pub struct IndexBuilder {
    bytes: Vec<u8>,
    end: u64,
}

impl IndexBuilder {
    /// The index of a segment without records.
    #[must_use]
    pub fn new(header: &SegmentHeader) -> Self {
        todo!()
    }

    /// Adds the record of `length` bytes that comes next.
    ///
    /// # Errors
    /// [`SegmentError::Unwritable`], [`SegmentError::TooLong`]: of a head that could not be written either.
    pub fn push(&mut self, head: &Head<'_>, length: u64) -> Result<(), SegmentError> {
        todo!()
    }

    /// Adds `length` bytes that are no record.
    pub fn push_hole(&mut self, length: u64) {
        todo!()
    }

    /// Where the next record begins.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Index and trailer: what is written behind the last record to seal the segment.
    #[must_use]
    pub fn finish(&self, header: &SegmentHeader) -> Vec<u8> {
        todo!()
    }
}

/// The index of a sealed segment, checked.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    bytes: &'a [u8],
    header: SegmentHeader,
    offset: u64,
}

impl<'a> Index<'a> {
    /// Checks the bytes at [`Trailer::index`].
    ///
    /// # Errors
    /// [`SegmentError::Length`], [`SegmentError::Checksum`].
    pub fn parse(bytes: &'a [u8], trailer: &Trailer, header: &SegmentHeader) -> Result<Self, SegmentError> {
        todo!()
    }

    /// The entries, in the order of the records.
    #[must_use]
    pub fn entries(&self) -> Entries<'a> {
        todo!()
    }
}

/// The entries of an index one after another.
///
/// Not an iterator: an entry borrows its id, which is put together from the one before.
#[derive(Debug, Clone)]
pub struct Entries<'a> {
    bytes: &'a [u8],
}

impl Entries<'_> {
    /// The next entry. `None` behind the last one, when the lengths add up to where the index begins.
    ///
    /// # Errors
    /// [`SegmentError::Value`], [`SegmentError::Truncated`], [`SegmentError::Length`]. Ask no further then.
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, SegmentError> {
        todo!()
    }
}
