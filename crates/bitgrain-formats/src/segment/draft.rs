//! `Draft`: a record whose body is encoded where it will be written from.

use super::{Head, SegmentError, SegmentHeader};

/// A body with room for its head, so that both are written at once and the body is never copied.
///
/// ```
/// use bitgrain_formats::segment::*;
/// # let header = SegmentHeader { kind: SegmentKind::Log, store: [7; 16], number: 1, previous: 0, base_sequence: 1, base_time: 5 };
/// let mut list = UsageList::default();
/// list.push(&UsageEntry { id: IdRef::Number(7), accesses: 3, last: 10, window: 0b11, ema: 0.5 })?;
/// let body = list.into_bytes();
/// let mut draft = Draft::new(body.len());
/// draft.body_mut().copy_from_slice(&body); // or encode blocks right here
/// draft.checksum(); // before any lock is taken
/// let stamp = Stamp { sequence: 2, batch_left: 0, durable: None, time: 9 }; // known under the lock
/// let bytes = draft.finish(&header, &Head { stamp, content: Content::Usage })?;
/// assert_eq!(RecordView::parse(bytes, 64, &header)?.head.stamp, stamp);
/// # Ok::<(), SegmentError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Draft {
    /// Room, chunk checksums, body.
    buffer: Vec<u8>,
    /// Where the body begins.
    body: usize,
    /// Whether the chunk checksums are those of the body.
    summed: bool,
    /// The head before it is copied to its place.
    head: Vec<u8>,
}

impl Draft {
    /// Room for a record with a body of `len` zeros.
    #[must_use]
    pub fn new(len: usize) -> Self {
        todo!()
    }

    /// The same for another body of `len` bytes, which begins as anything. Keeps the memory.
    pub fn reset(&mut self, len: usize) {
        todo!()
    }

    /// The body, to be encoded.
    pub fn body_mut(&mut self) -> &mut [u8] {
        todo!()
    }

    /// Computes the checksums of the body, which is most of the work of [`finish`](Self::finish).
    pub fn checksum(&mut self) {
        todo!()
    }

    /// Puts the head before the body and returns the whole record. May be called again with another head.
    ///
    /// # Errors
    /// [`SegmentError::Unwritable`], [`SegmentError::TooLong`], and [`SegmentError::Length`] if the body does not have the
    /// length that follows from the head.
    pub fn finish(&mut self, header: &SegmentHeader, head: &Head<'_>) -> Result<&[u8], SegmentError> {
        todo!()
    }
}

/// Appends a record with a copy of `body` and returns its length in bytes. After an error `out` is as before.
///
/// # Errors
/// As [`Draft::finish`].
pub fn write_record(
    out: &mut Vec<u8>,
    header: &SegmentHeader,
    head: &Head<'_>,
    body: &[u8],
) -> Result<usize, SegmentError> {
    todo!()
}
