//! `Records`: the records of a segment one after another, and where and why they end.

use super::{RecordView, SegmentError, SegmentHeader};

/// Why there are no more records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The bytes end with a record.
    Clean {
        /// Their length.
        offset: u64,
    },
    /// The bytes end inside a record, or what is left can be no record.
    Torn {
        /// Where it begins.
        offset: u64,
        /// What is lacking.
        error: SegmentError,
    },
    /// A record is there, but not as it was written.
    Bad {
        /// Where it begins.
        offset: u64,
        /// What is wrong.
        error: SegmentError,
    },
}

/// The records of a segment in their order, head and body checked. Ends at the first one that is not whole.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    segment: &'a [u8],
    header: SegmentHeader,
    end: End,
}

impl<'a> Records<'a> {
    /// The records of `segment`, the bytes of a segment from its first one to where the records end (the length of the
    /// file if it is not sealed, [`Trailer::records_end`](super::Trailer::records_end) if it is).
    #[must_use]
    pub fn new(segment: &'a [u8], header: &SegmentHeader) -> Self {
        todo!()
    }

    /// The records from `offset` on.
    #[must_use]
    pub fn from(segment: &'a [u8], header: &SegmentHeader, offset: u64) -> Self {
        todo!()
    }

    /// Where and why it ended; [`End::Clean`] at the next record until then.
    #[must_use]
    pub const fn end(&self) -> &End {
        &self.end
    }
}

impl<'a> Iterator for Records<'a> {
    /// Where the record begins, and the record.
    type Item = (u64, RecordView<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}

/// The first place from `offset` on at which a whole, correct record begins, whatever is before it.
#[must_use]
pub fn find_record(segment: &[u8], header: &SegmentHeader, offset: u64) -> Option<u64> {
    todo!()
}
