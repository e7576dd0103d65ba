//! `Draft`: a record whose body is encoded directly into the output buffer.

use super::record::CRC_LEN;
use super::{CHUNK, Head, MAX_HEAD, SegmentError, SegmentHeader, put};
use crate::crc::{crc32c, crc32c_after};

/// A body with space for its head before it, so that both are written at once and the body is never copied.
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
/// let stamp = Stamp { sequence: 2, batch_left: 0, pending: None, time: 9 }; // known under the lock
/// let bytes = draft.finish(&header, &Head { stamp, content: Content::Usage })?;
/// assert_eq!(RecordView::parse(bytes, 64, &header)?.head.stamp, stamp);
/// # Ok::<(), SegmentError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Draft {
    /// Space for the head, chunk checksums, body.
    buffer: Vec<u8>,
    /// Offset of the body.
    body: usize,
    /// Whether the chunk checksums match the body.
    summed: bool,
    /// Encoded head, before it is copied into the buffer.
    head: Vec<u8>,
    /// Content of the head, before its length is known.
    content: Vec<u8>,
}

/// Space reserved for the head in bytes: enough for most records; longer heads move the body.
const ROOM: usize = 192;

impl Draft {
    /// Creates a record with a body of `len` zeros.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let body = body_start(len);
        Self { buffer: vec![0; body + len], body, summed: false, head: Vec::new(), content: Vec::new() }
    }

    /// Prepares for another body of `len` bytes, whose initial content is arbitrary. Reuses the allocation.
    pub fn reset(&mut self, len: usize) {
        self.body = body_start(len);
        self.buffer.resize(self.body + len, 0);
        self.summed = false;
    }

    /// Returns the body for encoding.
    pub fn body_mut(&mut self) -> &mut [u8] {
        self.summed = false;
        &mut self.buffer[self.body..]
    }

    /// Returns the body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.buffer[self.body..]
    }

    /// Computes the checksums of the body, which is most of the work of [`finish`](Self::finish).
    pub fn checksum(&mut self) {
        if !self.summed {
            let (before, body) = self.buffer.split_at_mut(self.body);
            let table = before.len() - table_len(body.len());
            for (sum, chunk) in before[table..].as_chunks_mut().0.iter_mut().zip(body.chunks(CHUNK)) {
                *sum = crc32c(chunk).to_le_bytes();
            }
            self.summed = true;
        }
    }

    /// Writes the head before the body and returns the complete record. Can be called again with another head.
    ///
    /// # Errors
    /// Returns [`SegmentError::Unwritable`], [`SegmentError::TooLong`], or [`SegmentError::Length`] if the length of
    /// the body does not match the head.
    pub fn finish(&mut self, header: &SegmentHeader, head: &Head<'_>) -> Result<&[u8], SegmentError> {
        self.finish_salted(header, header.salt(), head)
    }

    /// Like [`finish`](Self::finish), for callers that write many records and cache the [salt](SegmentHeader::salt) of
    /// the header.
    ///
    /// # Errors
    /// Returns the errors of [`finish`](Self::finish).
    pub fn finish_salted(&mut self, header: &SegmentHeader, salt: u32, head: &Head<'_>) -> Result<&[u8], SegmentError> {
        self.checksum();
        let body_len = self.buffer.len() - self.body;
        self.head.clear();
        self.content.clear();
        write_before_table(&mut self.head, &mut self.content, header, head, body_len)?;
        let table = self.body - table_len(body_len);
        let start = match table.checked_sub(self.head.len()) {
            Some(start) => start,
            None => {
                let more = self.head.len() - table;
                self.buffer.splice(..0, std::iter::repeat_n(0, more));
                self.body += more;
                0
            }
        };
        let record = &mut self.buffer[start..];
        record[..self.head.len()].copy_from_slice(&self.head);
        sign(&mut record[..self.body - start], salt);
        Ok(record)
    }
}

/// Appends a record with a copy of `body` and returns its length in bytes. On error, `out` is unchanged.
///
/// # Errors
/// Returns the errors of [`Draft::finish`].
pub fn write_record(
    out: &mut Vec<u8>,
    header: &SegmentHeader,
    head: &Head<'_>,
    body: &[u8],
) -> Result<usize, SegmentError> {
    let start = out.len();
    if let Err(error) = write_before_table(out, &mut Vec::with_capacity(64), header, head, body.len()) {
        out.truncate(start);
        return Err(error);
    }
    body.chunks(CHUNK).for_each(|chunk| out.extend_from_slice(&crc32c(chunk).to_le_bytes()));
    sign(&mut out[start..], header.salt());
    out.extend_from_slice(body);
    Ok(out.len() - start)
}

/// Writes everything before the chunk checksums, with a zero head checksum. `content` must be empty.
fn write_before_table(
    out: &mut Vec<u8>,
    content: &mut Vec<u8>,
    header: &SegmentHeader,
    head: &Head<'_>,
    body_len: usize,
) -> Result<(), SegmentError> {
    if let Some(expected) = head.content.body_len().filter(|&expected| expected != body_len) {
        let (expected, found) = (expected as u64, body_len as u64);
        return Err(SegmentError::Length { what: "the body", offset: 0, expected, found });
    }
    head.write(header, content)?;
    if content.len() > MAX_HEAD {
        return Err(SegmentError::TooLong { what: "a head", len: content.len(), limit: MAX_HEAD });
    }
    out.extend_from_slice(&[0; CRC_LEN]);
    put::varint(out, content.len() as u64);
    put::varint(out, body_len as u64);
    out.extend_from_slice(content);
    Ok(())
}

/// Writes the checksum of the rest to the start.
fn sign(before_body: &mut [u8], salt: u32) {
    let (sum, rest) = before_body.split_at_mut(CRC_LEN);
    sum.copy_from_slice(&crc32c_after(salt, rest).to_le_bytes());
}

const fn table_len(body_len: usize) -> usize {
    body_len.div_ceil(CHUNK) * CRC_LEN
}

const fn body_start(body_len: usize) -> usize {
    ROOM + table_len(body_len)
}
