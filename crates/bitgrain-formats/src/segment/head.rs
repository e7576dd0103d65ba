//! `Head`: everything in a record before its body.

use super::cursor::Cursor;
use super::{FrameHead, IdRef, SegmentError, SegmentHeader, TensorHead, put};

/// Everything in a record before its body.
#[derive(Debug, Clone, PartialEq)]
pub struct Head<'a> {
    /// Position in the history of the store.
    pub stamp: Stamp,
    /// Kind and metadata.
    pub content: Content<'a>,
}

/// Position of a record in the history of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Position in the order of all changes: of two records with the same id, the one with the higher number is
    /// current.
    pub sequence: u64,
    /// Number of records that follow in the same batch. A batch without its last record, which has 0, has no effect.
    pub batch_left: u32,
    /// Number of bytes before the record that were not known to be durable when it was written; all earlier ones were.
    pub pending: Option<u64>,
    /// Time of writing, in milliseconds since 1970.
    pub time: u64,
}

/// Kind and metadata of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// A tensor with its values in the body.
    Tensor(IdRef<'a>, TensorHead<'a>),
    /// A frame of a temporal tensor.
    Frame(IdRef<'a>, FrameHead),
    /// Deletion of a tensor and all of its earlier frames.
    Delete(IdRef<'a>),
    /// Usage of tensors: the body is a [`UsageList`](super::UsageList).
    Usage,
}

impl<'a> Content<'a> {
    /// Returns the id of the tensor.
    #[must_use]
    pub const fn id(&self) -> Option<IdRef<'a>> {
        match *self {
            Self::Tensor(id, _) | Self::Frame(id, _) | Self::Delete(id) => Some(id),
            Self::Usage => None,
        }
    }

    /// Returns the required size of the body in bytes; `None` if any size is valid, `usize::MAX` if it does not fit in
    /// memory.
    pub(super) fn body_len(&self) -> Option<usize> {
        match self {
            Self::Tensor(_, tensor) => Some(tensor.parts().map_or(usize::MAX, |parts| parts.projection.end)),
            Self::Frame(_, frame) => Some(frame.body_len()),
            Self::Delete(_) => Some(0),
            Self::Usage => None,
        }
    }
}

/// Bits of the kind in the first byte.
pub(super) const KIND: u8 = 0b111;
/// Flag: more records of the batch follow.
pub(super) const BATCH: u8 = 1 << 3;
/// Flag: the number of pending bytes follows.
pub(super) const PENDING: u8 = 1 << 4;

impl<'a> Head<'a> {
    pub(super) fn write(&self, header: &SegmentHeader, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let Stamp { sequence, batch_left, pending, time } = self.stamp;
        let kind = match self.content {
            Content::Tensor(..) => 0,
            Content::Frame(..) => 1,
            Content::Delete(_) => 2,
            Content::Usage => 3,
        };
        let batch = if batch_left > 0 { BATCH } else { 0 };
        out.push(kind | batch | if pending.is_some() { PENDING } else { 0 });
        put::varint(out, sequence.wrapping_sub(header.base_sequence));
        put::varint(out, time.wrapping_sub(header.base_time));
        if batch_left > 0 {
            put::varint(out, u64::from(batch_left));
        }
        if let Some(pending) = pending {
            put::varint(out, pending);
        }
        if let Some(id) = self.content.id() {
            id.write(out)?;
        }
        match &self.content {
            Content::Tensor(_, tensor) => tensor.write(time, out),
            Content::Frame(_, frame) => frame.write(&self.stamp, out),
            Content::Delete(_) | Content::Usage => Ok(()),
        }
    }

    /// Reads a head that fills the cursor.
    pub(super) fn read(mut cursor: Cursor<'a>, header: &SegmentHeader) -> Result<Self, SegmentError> {
        let offset = cursor.offset();
        let flags = cursor.u8("record kind")?;
        if flags & !(KIND | BATCH | PENDING) != 0 || flags & KIND > 3 {
            return Err(SegmentError::Value { what: "record kind", offset });
        }
        let sequence = cursor.varint("sequence number")?.wrapping_add(header.base_sequence);
        let time = cursor.varint("time")?.wrapping_add(header.base_time);
        let batch_left = if flags & BATCH == 0 { 0 } else { read_batch(&mut cursor)? };
        let pending = if flags & PENDING == 0 { None } else { Some(cursor.varint("pending bytes")?) };
        let stamp = Stamp { sequence, batch_left, pending, time };
        let content = match flags & KIND {
            0 => Content::Tensor(IdRef::read(&mut cursor)?, TensorHead::read(time, &mut cursor)?),
            1 => Content::Frame(IdRef::read(&mut cursor)?, FrameHead::read(&stamp, &mut cursor)?),
            2 => Content::Delete(IdRef::read(&mut cursor)?),
            _ => Content::Usage,
        };
        cursor.end("end of the record head")?;
        Ok(Self { stamp, content })
    }
}

/// Reads the number of records that follow in the batch; a stored number is never 0.
fn read_batch(cursor: &mut Cursor<'_>) -> Result<u32, SegmentError> {
    let offset = cursor.offset();
    let left = u32::try_from(cursor.varint("records left in the batch")?).ok().filter(|&left| left > 0);
    left.ok_or(SegmentError::Value { what: "records left in the batch", offset })
}
