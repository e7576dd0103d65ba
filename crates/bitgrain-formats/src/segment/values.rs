//! `ValuesView`: fast access to the values of a tensor's record, without parsing the rest of its head.

use bitgrain_codec::BlockFormat;

use super::cursor::Cursor;
use super::form::{read_block, read_form};
use super::head::{BATCH, KIND, PENDING};
use super::record::{CRC_LEN, Unchecked};
use super::tensor::RECONSTRUCT;
use super::{Accuracy, CHUNK, Encoding, Form, IdRef, SegmentError, shape};
use crate::crc::crc32c;

/// The values of a record with a verified head. Same values as in a [`RecordView`](super::RecordView), but the rest of
/// the head is skipped, so nothing is allocated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValuesView<'a> {
    /// Tier of the values.
    pub tier: u8,
    /// Encoding: f32, f16 or blocks.
    pub encoding: Encoding,
    /// Error of the values.
    pub accuracy: Accuracy,
    /// Number of values.
    pub count: usize,
    /// Encoded values, not verified.
    pub body: &'a [u8],
    checksums: &'a [u8],
    /// Offset of the body in its segment.
    offset: u64,
}

impl<'a> ValuesView<'a> {
    /// Parses and verifies the head of the record at the start of `bytes`. Returns `None` if it is not the record of
    /// the tensor `id`, or contains no values or more than values: use a [`RecordView`](super::RecordView) then.
    /// `offset` is the offset of the record in its segment, for error messages; `salt` that of the segment's header.
    ///
    /// # Errors
    /// Returns a [`SegmentError`] if the head is invalid.
    pub fn parse(bytes: &'a [u8], offset: u64, salt: u32, id: IdRef<'_>) -> Result<Option<Self>, SegmentError> {
        bitgrain_kernels::prefetch(bytes); // mapped pages may not be in the cache yet
        let unchecked = Unchecked::read(bytes, offset)?;
        unchecked.check(salt)?;
        let (head, checksums) = unchecked.head_and_table();
        let mut cursor = Cursor::new(head, offset);
        let flags = cursor.u8("record kind")?;
        if flags & KIND != 0 {
            return Ok(None);
        }
        cursor.varint("sequence number")?;
        cursor.varint("time")?;
        for bit in [BATCH, PENDING] {
            if flags & bit != 0 {
                cursor.varint("batch or pending bytes")?;
            }
        }
        if !id.is_next(&mut cursor)? || cursor.u8("tensor flags")? & RECONSTRUCT != 0 {
            return Ok(None);
        }
        let (tier, form) = read_form(&mut cursor)?;
        let encoding = match form {
            Form::Raw => Encoding::Raw,
            Form::Half => Encoding::Half,
            Form::Blocks(width) => Encoding::Blocks(BlockFormat::new(width).with_block_len(read_block(&mut cursor)?)),
            Form::TwoLevel => Encoding::Blocks(BlockFormat::two_level().with_block_len(read_block(&mut cursor)?)),
            Form::Absent | Form::Frames => return Ok(None),
        };
        let count = shape::read_count(&mut cursor)?;
        let accuracy = Accuracy::read(&mut cursor)?;
        let (before, found) = (unchecked.len(), unchecked.body);
        let expected = encoding.bytes(count) as u64;
        if found != expected {
            return Err(SegmentError::Length { what: "the body", offset, expected, found });
        }
        let mut rest = Cursor::new(bytes, offset);
        rest.take("record head", before)?;
        let offset = rest.offset();
        let body = rest.take("record body", found)?;
        Ok(Some(Self { tier, encoding, accuracy, count, body, checksums, offset }))
    }

    /// Verifies the checksums of the body.
    ///
    /// # Errors
    /// Returns [`SegmentError::Checksum`] with the first damaged chunk.
    pub fn check(&self) -> Result<(), SegmentError> {
        let sums = self.checksums.as_chunks::<CRC_LEN>().0;
        for (i, (chunk, sum)) in self.body.chunks(CHUNK).zip(sums).enumerate() {
            let (stored, computed) = (u32::from_le_bytes(*sum), crc32c(chunk));
            if stored != computed {
                let offset = self.offset + (i * CHUNK) as u64;
                return Err(SegmentError::Checksum { what: "a chunk of the body", offset, stored, computed });
            }
        }
        Ok(())
    }
}
