//! `TensorHead`: metadata of a tensor.

use std::ops::Range;

use bitgrain_codec::BlockFormat;

use super::accuracy::is_bound;
use super::cursor::Cursor;
use super::form::{LAST_TIER, check_tier, read_block, read_form, write_block, write_form};
use super::{Accuracy, Encoding, Form, Reconstruct, SegmentError, put, shape};

/// Metadata of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorHead<'a> {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// Number of the tier of the data, 0 to 8 (`spec/segment.md#tensor`).
    pub tier: u8,
    /// Encoding of the values in the body.
    pub encoding: Encoding,
    /// Error of the values.
    pub accuracy: Accuracy,
    /// Time of the first put of the id.
    pub created: u64,
    /// Time of the last put; earlier than the record if the tensor was only re-encoded.
    pub updated: u64,
    /// Pinned tier.
    pub pinned: Option<u8>,
    /// Largest error bound allowed.
    pub max_error: Option<f32>,
    /// User metadata pairs, in the order given.
    pub user: Vec<(&'a str, &'a str)>,
    /// Reconstruction policy.
    pub reconstruct: Option<Reconstruct<'a>>,
}

/// Byte ranges of the parts of a tensor's body. Missing parts are empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyParts {
    /// The values.
    pub data: Range<usize>,
    /// Blocks of the delta to the base.
    pub delta: Range<usize>,
    /// The permutation, as u32.
    pub permutation: Range<usize>,
    /// The projection, as f32.
    pub projection: Range<usize>,
}

/// Flag: the id was first put earlier than the record was written.
const CREATED: u8 = 1 << 0;
/// Flag: the values were last put earlier than the record was written.
const UPDATED: u8 = 1 << 1;
const PINNED: u8 = 1 << 2;
const MAX_ERROR: u8 = 1 << 3;
const USER: u8 = 1 << 4;
pub(super) const RECONSTRUCT: u8 = 1 << 5;

impl<'a> TensorHead<'a> {
    /// Returns the number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        shape::count(&self.shape)
    }

    /// Returns the ranges of the parts, the last of which ends with the body; `None` if they do not fit in memory.
    #[must_use]
    pub fn parts(&self) -> Option<BodyParts> {
        let count = self.count();
        let [delta, permutation, projection] = self.reconstruct.map_or([0; 3], |policy| policy.lengths(count));
        let mut end = 0usize;
        let mut next = |len: usize| {
            let start = end;
            end = start.checked_add(len).filter(|&end| isize::try_from(end).is_ok())?;
            Some(start..end)
        };
        Some(BodyParts {
            data: next(self.encoding.bytes(count))?,
            delta: next(delta)?,
            permutation: next(permutation)?,
            projection: next(projection)?,
        })
    }

    pub(super) fn write(&self, time: u64, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        out.push(
            flag(self.created != time, CREATED)
                | flag(self.updated != time, UPDATED)
                | flag(self.pinned.is_some(), PINNED)
                | flag(self.max_error.is_some(), MAX_ERROR)
                | flag(!self.user.is_empty(), USER)
                | flag(self.reconstruct.is_some(), RECONSTRUCT),
        );
        write_form(self.tier, self.encoding.form(), out)?;
        if let Encoding::Blocks(format) = self.encoding {
            write_block(format.block_len(), out);
        }
        shape::write(&self.shape, out)?;
        self.accuracy.write(out)?;
        for other in [self.created, self.updated].into_iter().filter(|&other| other != time) {
            put::delta(out, other, time);
        }
        write_limits(self.pinned, self.max_error, out)?;
        if !self.user.is_empty() {
            put::varint(out, self.user.len() as u64);
            for text in self.user.iter().flat_map(|&(key, value)| [key, value]) {
                put::text(out, text);
            }
        }
        self.reconstruct.map_or(Ok(()), |policy| policy.write(out))
    }

    pub(super) fn read(time: u64, cursor: &mut Cursor<'a>) -> Result<Self, SegmentError> {
        let offset = cursor.offset();
        let flags = cursor.u8("tensor flags")?;
        if flags & !(CREATED | UPDATED | PINNED | MAX_ERROR | USER | RECONSTRUCT) != 0 {
            return Err(SegmentError::Value { what: "tensor flags", offset });
        }
        let has = |bit| flags & bit != 0;
        let (tier, form) = read_form(cursor)?;
        let encoding = match form {
            Form::Raw => Encoding::Raw,
            Form::Half => Encoding::Half,
            Form::Blocks(width) => Encoding::Blocks(BlockFormat::new(width).with_block_len(read_block(cursor)?)),
            Form::TwoLevel => Encoding::Blocks(BlockFormat::two_level().with_block_len(read_block(cursor)?)),
            Form::Absent => Encoding::Absent,
            Form::Frames => Encoding::Frames,
        };
        let shape = shape::read(cursor)?;
        let accuracy = Accuracy::read(cursor)?;
        let created = if has(CREATED) { cursor.other("creation time", time)? } else { time };
        let updated = if has(UPDATED) { cursor.other("put time", time)? } else { time };
        let (pinned, max_error) = read_limits(has(PINNED), has(MAX_ERROR), cursor)?;
        let user = if has(USER) { read_user(cursor)? } else { Vec::new() };
        let reconstruct = if has(RECONSTRUCT) { Some(Reconstruct::read(cursor)?) } else { None };
        Ok(Self { shape, tier, encoding, accuracy, created, updated, pinned, max_error, user, reconstruct })
    }
}

fn read_user<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(&'a str, &'a str)>, SegmentError> {
    let offset = cursor.offset();
    let pairs = cursor.varint("number of user pairs")?;
    // A pair takes at least the two lengths of its strings; this bounds the allocation.
    if pairs == 0 || pairs > cursor.left() as u64 / 2 {
        return Err(SegmentError::Value { what: "number of user pairs", offset });
    }
    let mut user = Vec::with_capacity(usize::try_from(pairs).unwrap_or(0));
    for _ in 0..pairs {
        user.push((cursor.text("user key")?, cursor.text("user value")?));
    }
    Ok(user)
}

/// Writes the pinned tier and the error limit, where present.
pub(super) fn write_limits(pinned: Option<u8>, max_error: Option<f32>, out: &mut Vec<u8>) -> Result<(), SegmentError> {
    if let Some(tier) = pinned {
        check_tier(tier)?;
        out.push(tier);
    }
    if let Some(error) = max_error {
        if !is_bound(error) {
            return Err(SegmentError::Unwritable { what: "the error limit", must: "finite and not negative" });
        }
        out.extend_from_slice(&error.to_le_bytes());
    }
    Ok(())
}

pub(super) fn read_limits(
    pinned: bool,
    max_error: bool,
    cursor: &mut Cursor<'_>,
) -> Result<(Option<u8>, Option<f32>), SegmentError> {
    let offset = cursor.offset();
    let pinned = if pinned { Some(cursor.u8("pinned tier")?) } else { None };
    if pinned.is_some_and(|tier| tier > LAST_TIER) {
        return Err(SegmentError::Value { what: "pinned tier", offset });
    }
    let offset = cursor.offset();
    let max_error = if max_error { Some(cursor.f32("error limit")?) } else { None };
    if max_error.is_some_and(|error| !is_bound(error)) {
        return Err(SegmentError::Value { what: "error limit", offset });
    }
    Ok((pinned, max_error))
}
