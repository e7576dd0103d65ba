//! `ValuesView`: the values in a tensor's record, for a reader that knows the tensor and wants nothing else of it.

use bitgrain_codec::BlockFormat;

use super::cursor::Cursor;
use super::form::{read_block, read_form};
use super::head::{BATCH, KIND, PENDING};
use super::record::{CRC_LEN, Unchecked};
use super::tensor::RECONSTRUCT;
use super::{Accuracy, CHUNK, Encoding, Form, IdRef, SegmentError, shape};
use crate::crc::crc32c;

/// The values of a record whose head was checked. What a [`RecordView`](super::RecordView) says of them, without memory for
/// the rest of the head, which is not looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValuesView<'a> {
    /// Tier of the values.
    pub tier: u8,
    /// How they are stored: raw or in blocks.
    pub encoding: Encoding,
    /// What is known of their error.
    pub accuracy: Accuracy,
    /// Number of values.
    pub count: usize,
    /// The values as they are stored; not checked.
    pub body: &'a [u8],
    checksums: &'a [u8],
    /// Where the body begins in its segment.
    offset: u64,
}

impl<'a> ValuesView<'a> {
    /// Reads and checks the head of the record that `bytes` hold, from its beginning. `None` if it is another record than that
    /// of the tensor `id`, if it has no values or more than values: ask a [`RecordView`](super::RecordView) then. `offset`,
    /// where the record begins in its segment, is for the errors, `salt` that of the segment's header.
    ///
    /// # Errors
    /// Any [`SegmentError`].
    pub fn parse(bytes: &'a [u8], offset: u64, salt: u32, id: IdRef<'_>) -> Result<Option<Self>, SegmentError> {
        bitgrain_kernels::prefetch(bytes); // mapped, perhaps, and nobody has looked at it before
        let unchecked = Unchecked::read(bytes, offset)?;
        unchecked.check(salt)?;
        let (head, checksums) = unchecked.head_and_table();
        let mut cursor = Cursor::new(head, offset);
        let flags = cursor.u8("kind of the record")?;
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
        if !id.is_next(&mut cursor)? || cursor.u8("flags of the tensor")? & RECONSTRUCT != 0 {
            return Ok(None);
        }
        let (tier, form) = read_form(&mut cursor)?;
        let encoding = match form {
            Form::Raw => Encoding::Raw,
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
        rest.take("head of the record", before)?;
        let offset = rest.offset();
        let body = rest.take("body of the record", found)?;
        Ok(Some(Self { tier, encoding, accuracy, count, body, checksums, offset }))
    }

    /// Compares the checksums of the body.
    ///
    /// # Errors
    /// [`SegmentError::Checksum`] of the first chunk that is not as it was written.
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
