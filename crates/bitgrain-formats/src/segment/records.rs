//! `Records`: iterates over the records of a segment and reports how they end.

use super::{RecordView, SegmentError, SegmentHeader};

/// Reason for the end of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The bytes end at a record boundary.
    Clean {
        /// Length in bytes.
        offset: u64,
    },
    /// The bytes end inside a record, or the rest cannot be a record.
    Torn {
        /// Offset of the incomplete record.
        offset: u64,
        /// Description of the problem.
        error: SegmentError,
    },
    /// A complete but damaged record.
    Bad {
        /// Offset of the record.
        offset: u64,
        /// Description of the damage.
        error: SegmentError,
    },
}

/// Iterator over the records of a segment, with head and body verified. Ends at the first invalid record.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    segment: &'a [u8],
    header: SegmentHeader,
    salt: u32,
    end: End,
}

impl<'a> Records<'a> {
    /// Iterates over the records of `segment`, the bytes of a segment up to the end of its records (the length of the
    /// file if it is not sealed, [`Trailer::index_offset`](super::Trailer::index_offset) otherwise).
    #[must_use]
    pub fn new(segment: &'a [u8], header: &SegmentHeader) -> Self {
        Self::from(segment, header, SegmentHeader::LEN as u64)
    }

    /// Iterates over the records from `offset`.
    #[must_use]
    pub fn from(segment: &'a [u8], header: &SegmentHeader, offset: u64) -> Self {
        Self { segment, header: *header, salt: header.salt(), end: End::Clean { offset } }
    }

    /// Returns the reason and offset of the end; before the end, [`End::Clean`] with the offset of the next record.
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
    /// Offset of the record, and the record.
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

/// Returns the offset of the first valid record at or after `offset`, skipping any other bytes.
#[must_use]
pub fn find_record(segment: &[u8], header: &SegmentHeader, offset: u64) -> Option<u64> {
    let salt = header.salt();
    let whole = |&at: &usize| {
        let bytes = &segment[at..];
        RecordView::find(bytes, header, salt).and_then(|record| record.check_body(record.body(bytes)?)).is_ok()
    };
    (usize::try_from(offset).ok()?..segment.len()).find(whole).map(|at| at as u64)
}
