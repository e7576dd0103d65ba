//! `Entry`: index entry of a record in a sealed segment.

use super::cursor::Cursor;
use super::form::{read_form, write_form};
use super::frame::{read_rewritten, write_rewritten};
use super::prefix::PreviousId;
use super::tensor::{read_limits, write_limits};
use super::{Content, Form, Head, IdRef, SegmentError, SegmentHeader, put};

/// Kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A tensor.
    Tensor,
    /// A frame, with its index.
    Frame(u64),
    /// A deletion.
    Delete,
    /// A usage record.
    Usage,
    /// Bytes that are not a record.
    Hole,
}

/// Index entry of a record in a sealed segment: enough to know every tensor without reading its record. Batches in a
/// sealed segment are complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'a> {
    /// Kind of the record.
    pub kind: EntryKind,
    /// Id of the tensor; `None` for usage records and holes.
    pub id: Option<IdRef<'a>>,
    /// Offset of the record in the segment.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Sequence number: the position in the order of all changes.
    pub sequence: u64,
    /// Time of writing, in milliseconds since 1970.
    pub time: u64,
    /// Tier of a tensor or frame, otherwise 0.
    pub tier: u8,
    /// Form of a tensor or frame, otherwise [`Form::Absent`].
    pub form: Form,
    /// Pinned tier.
    pub pinned: Option<u8>,
    /// Largest error bound allowed.
    pub max_error: Option<f32>,
    /// Base of the tensor's reconstruction.
    pub needs: Option<IdRef<'a>>,
    /// For a frame that was re-encoded: sequence number of the first record of frame 0 of its tensor.
    pub rewritten: Option<u64>,
}

/// Bits of the kind in the first byte.
const KIND: u8 = 0b111;
const TENSOR: u8 = 0;
const FRAME: u8 = 1;
const DELETE: u8 = 2;
const USAGE: u8 = 3;
const HOLE: u8 = 4;
/// Flag: the sequence number does not follow that of the previous record.
const OTHER_SEQUENCE: u8 = 1 << 3;
/// Flag: the time differs from that of the previous record.
const OTHER_TIME: u8 = 1 << 4;
const PINNED: u8 = 1 << 5;
const MAX_ERROR: u8 = 1 << 6;
const NEEDS: u8 = 1 << 7;
/// Flag of a frame: it was re-encoded.
const REWRITTEN: u8 = 1 << 5;

/// State carried over from previous entries.
#[derive(Debug, Clone)]
pub(super) struct Previous {
    id: PreviousId,
    sequence: u64,
    time: u64,
    /// Offset of the next record.
    pub(super) end: u64,
}

impl Previous {
    pub(super) fn new(header: &SegmentHeader) -> Self {
        let sequence = header.base_sequence.wrapping_sub(1);
        Self { id: PreviousId::default(), sequence, time: header.base_time, end: SegmentHeader::LEN as u64 }
    }

    pub(super) fn write_hole(&mut self, length: u64, out: &mut Vec<u8>) {
        out.push(HOLE);
        put::varint(out, length);
        self.end = self.end.saturating_add(length);
    }
}

impl<'a> Entry<'a> {
    /// Creates the entry of a record.
    #[must_use]
    pub fn of(head: &Head<'a>, offset: u64, length: u64) -> Self {
        let (kind, tier, form) = match &head.content {
            Content::Tensor(_, tensor) => (EntryKind::Tensor, tensor.tier, tensor.encoding.form()),
            Content::Frame(_, frame) => (EntryKind::Frame(frame.index), frame.tier, frame.form()),
            Content::Delete(_) => (EntryKind::Delete, 0, Form::Absent),
            Content::Usage => (EntryKind::Usage, 0, Form::Absent),
        };
        let (pinned, max_error, needs) = match &head.content {
            Content::Tensor(_, tensor) => {
                (tensor.pinned, tensor.max_error, tensor.reconstruct.map(|policy| policy.needs()))
            }
            _ => (None, None, None),
        };
        let rewritten = match &head.content {
            Content::Frame(_, frame) => frame.rewritten,
            _ => None,
        };
        let (id, sequence, time) = (head.content.id(), head.stamp.sequence, head.stamp.time);
        Self { kind, id, offset, length, sequence, time, tier, form, pinned, max_error, needs, rewritten }
    }

    pub(super) fn write(&self, previous: &mut Previous, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let kind = match self.kind {
            EntryKind::Tensor => TENSOR,
            EntryKind::Frame(_) => FRAME,
            EntryKind::Delete => DELETE,
            EntryKind::Usage => USAGE,
            EntryKind::Hole => HOLE,
        };
        let expected = previous.sequence.wrapping_add(1);
        out.push(
            kind | flag(self.sequence != expected, OTHER_SEQUENCE)
                | flag(self.time != previous.time, OTHER_TIME)
                | flag(self.pinned.is_some(), PINNED)
                | flag(self.max_error.is_some(), MAX_ERROR)
                | flag(self.needs.is_some(), NEEDS)
                | flag(self.rewritten.is_some(), REWRITTEN),
        );
        put::varint(out, self.length);
        if self.sequence != expected {
            put::delta(out, self.sequence, expected);
        }
        if self.time != previous.time {
            put::delta(out, self.time, previous.time);
        }
        if let EntryKind::Tensor | EntryKind::Frame(_) = self.kind {
            write_form(self.tier, self.form, out)?;
        }
        if let EntryKind::Frame(index) = self.kind {
            put::varint(out, index);
            write_rewritten(self.rewritten, self.sequence, out)?;
        }
        write_limits(self.pinned, self.max_error, out)?;
        if let Some(needs) = self.needs {
            needs.write(out)?;
        }
        if let Some(id) = self.id {
            previous.id.write(id, out)?;
        }
        previous.sequence = self.sequence;
        previous.time = self.time;
        previous.end = previous.end.saturating_add(self.length);
        Ok(())
    }

    /// Reads the next entry of a segment whose records end at `records_end`.
    pub(super) fn read<'b: 'a>(
        previous: &'a mut Previous,
        cursor: &mut Cursor<'b>,
        records_end: u64,
    ) -> Result<Self, SegmentError> {
        let at = cursor.offset();
        let flags = cursor.u8("entry kind")?;
        let has = |bit: u8| flags & bit != 0;
        let kind = flags & KIND;
        let allowed = match kind {
            TENSOR => KIND | OTHER_SEQUENCE | OTHER_TIME | PINNED | MAX_ERROR | NEEDS,
            FRAME => KIND | OTHER_SEQUENCE | OTHER_TIME | REWRITTEN,
            DELETE | USAGE => KIND | OTHER_SEQUENCE | OTHER_TIME,
            _ => HOLE,
        };
        if flags & !allowed != 0 {
            return Err(SegmentError::Value { what: "entry kind", offset: at });
        }
        let length_at = cursor.offset();
        let (offset, length) = (previous.end, cursor.varint("record length")?);
        let refuse = SegmentError::Value { what: "record length", offset: length_at };
        previous.end = offset.checked_add(length).filter(|&end| end <= records_end).ok_or(refuse.clone())?;
        let mut entry = Self {
            kind: EntryKind::Hole,
            id: None,
            offset,
            length,
            sequence: previous.sequence,
            time: previous.time,
            tier: 0,
            form: Form::Absent,
            pinned: None,
            max_error: None,
            needs: None,
            rewritten: None,
        };
        if kind == HOLE {
            return Ok(entry);
        }
        entry.sequence = previous.sequence.wrapping_add(1);
        if has(OTHER_SEQUENCE) {
            entry.sequence = cursor.other("sequence number", entry.sequence)?;
        }
        if has(OTHER_TIME) {
            entry.time = cursor.other("time", previous.time)?;
        }
        (previous.sequence, previous.time) = (entry.sequence, entry.time);
        if kind == TENSOR || kind == FRAME {
            (entry.tier, entry.form) = read_form(cursor)?;
        }
        entry.kind = match kind {
            TENSOR => EntryKind::Tensor,
            FRAME => EntryKind::Frame(cursor.varint("frame index")?),
            DELETE => EntryKind::Delete,
            _ => EntryKind::Usage,
        };
        let tensor = kind == TENSOR;
        entry.rewritten = read_rewritten(!tensor && has(REWRITTEN), entry.sequence, cursor)?;
        (entry.pinned, entry.max_error) = read_limits(tensor && has(PINNED), has(MAX_ERROR), cursor)?;
        entry.needs = if has(NEEDS) { Some(IdRef::read(cursor)?) } else { None };
        if kind != USAGE {
            previous.id.read(cursor)?;
            entry.id = previous.id.id();
        }
        // A record contains its name, so a name longer than the record is invalid. This bounds the memory for decoded
        // names.
        if matches!(entry.id, Some(IdRef::Name(name)) if name.len() as u64 > length) {
            return Err(refuse);
        }
        Ok(entry)
    }
}
