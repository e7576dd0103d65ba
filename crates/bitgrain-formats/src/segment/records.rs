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
    salt: u32,
    end: End,
}

impl<'a> Records<'a> {
    /// The records of `segment`, the bytes of a segment from its first one to where the records end (the length of the
    /// file if it is not sealed, [`Trailer::index_offset`](super::Trailer::index_offset) if it is).
    #[must_use]
    pub fn new(segment: &'a [u8], header: &SegmentHeader) -> Self {
        Self::from(segment, header, SegmentHeader::LEN as u64)
    }

    /// The records from `offset` on.
    #[must_use]
    pub fn from(segment: &'a [u8], header: &SegmentHeader, offset: u64) -> Self {
        Self { segment, header: *header, salt: header.salt(), end: End::Clean { offset } }
    }

    /// Where and why it ended; until then [`End::Clean`] where the next record begins.
    #[must_use]
    pub const fn end(&self) -> &End {
        &self.end
    }

    fn read(&self, offset: u64) -> Result<RecordView<'a>, SegmentError> {
        let bytes = usize::try_from(offset).ok().and_then(|at| self.segment.get(at..)).unwrap_or_default();
        let record = RecordView::parse_salted(bytes, offset, &self.header, self.salt)?;
        record.check_body(record.body(bytes)?)?;
        Ok(record)
    }
}

impl<'a> Iterator for Records<'a> {
    /// Where the record begins, and the record.
    type Item = (u64, RecordView<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let End::Clean { offset } = self.end else { return None };
        if offset == self.segment.len() as u64 {
            return None;
        }
        match self.read(offset) {
            Ok(record) => {
                self.end = End::Clean { offset: offset + record.total_len() };
                return Some((offset, record));
            }
            Err(error @ SegmentError::Truncated { .. }) => self.end = End::Torn { offset, error },
            Err(error) => self.end = End::Bad { offset, error },
        }
        None
    }
}

/// The first place from `offset` on at which a whole, correct record begins, whatever is before it.
#[must_use]
pub fn find_record(segment: &[u8], header: &SegmentHeader, offset: u64) -> Option<u64> {
    let salt = header.salt();
    let whole = |&at: &usize| {
        let bytes = &segment[at..];
        RecordView::find(bytes, header, salt).and_then(|record| record.check_body(record.body(bytes)?)).is_ok()
    };
    (usize::try_from(offset).ok()?..segment.len()).find(whole).map(|at| at as u64)
}
