//! `FrameHead`: what is said of one frame of a temporal tensor.

use bitgrain_codec::{BitWidth, BlockLen};

use super::cursor::Cursor;
use super::form::{read_block, read_form, write_block, write_form};
use super::{Accuracy, Form, SegmentError, put, shape};

/// What a frame's codes mean. Frames are named by their index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Codes of the values, with scales of its own.
    Key,
    /// Codes of the values, for the scales of frame `key`.
    Shared {
        /// The frame that has the scales.
        key: u64,
    },
    /// Codes of the difference to the decoded frame `base`, with scales of its own.
    DifferenceKey {
        /// The frame it is the difference to.
        base: u64,
    },
    /// Codes of the difference to the decoded frame `base`, for the scales of frame `key`.
    DifferenceShared {
        /// The frame that has the scales.
        key: u64,
        /// The frame it is the difference to.
        base: u64,
    },
}

/// How the scales of a frame are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleType {
    /// Two bytes.
    F16,
    /// Four bytes.
    F32,
}

/// One frame without its codes. The body is the scales, if it has its own, then the codes of each block, packed as blocks
/// pack them; or the values as f32.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameHead {
    /// Its place among the frames of the tensor, from 0.
    pub index: u64,
    /// What the codes mean.
    pub role: Role,
    /// Lengths of the axes: the same for every frame of a tensor.
    pub shape: Vec<usize>,
    /// Tier that was asked for, 0 (lossless) to 5 (absent).
    pub tier: u8,
    /// Width of the codes; `None` if the body holds the values as f32. Such a frame is a key that no other refers to.
    pub width: Option<BitWidth>,
    /// Values that share a scale. Not stored for f32 values.
    pub block: BlockLen,
    /// How scales are stored: its own, or those of its key.
    pub scales: ScaleType,
    /// How far values can be from those that were appended.
    pub accuracy: Accuracy,
    /// The time the frame is of, as whoever appended it says.
    pub time: u64,
}

/// Bits of the role in the flags.
const ROLE: u8 = 0b11;
/// Flag: scales are f32.
const F32_SCALES: u8 = 1 << 2;
/// Flag: the frame is not of the time at which it was written.
const OTHER_TIME: u8 = 1 << 3;

impl Role {
    /// True if the frame has scales of its own.
    #[must_use]
    pub const fn has_scales(self) -> bool {
        matches!(self, Self::Key | Self::DifferenceKey { .. })
    }

    /// The frame whose scales it uses, if not its own.
    #[must_use]
    pub const fn key(self) -> Option<u64> {
        match self {
            Self::Key | Self::DifferenceKey { .. } => None,
            Self::Shared { key } | Self::DifferenceShared { key, .. } => Some(key),
        }
    }

    /// The frame it is the difference to.
    #[must_use]
    pub const fn base(self) -> Option<u64> {
        match self {
            Self::Key | Self::Shared { .. } => None,
            Self::DifferenceKey { base } | Self::DifferenceShared { base, .. } => Some(base),
        }
    }
}

impl ScaleType {
    /// Bytes of a scale.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

impl FrameHead {
    /// How the body holds the values.
    pub(super) const fn form(&self) -> Form {
        match self.width {
            Some(width) => Form::Blocks(width),
            None => Form::Raw,
        }
    }

    /// Bytes of the scales at the beginning of the body: 0 if it has none of its own.
    #[must_use]
    pub fn scales_len(&self) -> usize {
        let scales = if self.role.has_scales() && self.width.is_some() {
            shape::count(&self.shape).div_ceil(self.block.get())
        } else {
            0
        };
        scales.saturating_mul(self.scales.bytes())
    }

    /// Bytes of the body; `usize::MAX` if so many values do not fit in memory.
    #[must_use]
    pub fn body_len(&self) -> usize {
        let count = shape::count(&self.shape);
        match self.width {
            // Block lengths are multiples of 8, so full blocks end on a byte and all codes pack as if they were one block.
            Some(width) => self.scales_len().saturating_add(width.packed_len(count)),
            None => count.saturating_mul(4),
        }
    }

    pub(super) fn write(&self, time: u64, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let role = match self.role {
            Role::Key => 0,
            Role::Shared { .. } => 1,
            Role::DifferenceKey { .. } => 2,
            Role::DifferenceShared { .. } => 3,
        };
        let scales = if self.scales == ScaleType::F32 { F32_SCALES } else { 0 };
        let other_time = if self.time == time { 0 } else { OTHER_TIME };
        if self.width.is_none() && role | scales != 0 {
            return Err(SegmentError::Unwritable { what: "a frame of f32 values", must: "a key without scales" });
        }
        put::varint(out, self.index);
        out.push(role | scales | other_time);
        write_form(self.tier, self.form(), out)?;
        if self.width.is_some() {
            write_block(self.block, out);
        }
        shape::write(&self.shape, out)?;
        for frame in [self.role.key(), self.role.base()].into_iter().flatten() {
            let back = self.index.checked_sub(frame).filter(|&back| back > 0);
            let must = "an earlier one";
            put::varint(out, back.ok_or(SegmentError::Unwritable { what: "the frame another one needs", must })?);
        }
        self.accuracy.write(out)?;
        if self.time != time {
            put::delta(out, self.time, time);
        }
        Ok(())
    }

    pub(super) fn read(time: u64, cursor: &mut Cursor<'_>) -> Result<Self, SegmentError> {
        let index = cursor.varint("index of the frame")?;
        let offset = cursor.offset();
        let flags = cursor.u8("role of the frame")?;
        if flags & !(ROLE | F32_SCALES | OTHER_TIME) != 0 {
            return Err(SegmentError::Value { what: "role of the frame", offset });
        }
        let offset = cursor.offset();
        let (tier, form) = read_form(cursor)?;
        let (width, block) = match form {
            Form::Blocks(width) => (Some(width), read_block(cursor)?),
            Form::Raw if flags & (ROLE | F32_SCALES) == 0 => (None, BlockLen::DEFAULT),
            _ => return Err(SegmentError::Value { what: "form of the frame", offset }),
        };
        let shape = shape::read(cursor)?;
        let mut earlier = || {
            let offset = cursor.offset();
            let back = cursor.varint("distance to a frame")?;
            let frame = index.checked_sub(back).filter(|&frame| frame != index);
            frame.ok_or(SegmentError::Value { what: "distance to a frame", offset })
        };
        let role = match flags & ROLE {
            0 => Role::Key,
            1 => Role::Shared { key: earlier()? },
            2 => Role::DifferenceKey { base: earlier()? },
            _ => Role::DifferenceShared { key: earlier()?, base: earlier()? },
        };
        let scales = if flags & F32_SCALES == 0 { ScaleType::F16 } else { ScaleType::F32 };
        let accuracy = Accuracy::read(cursor)?;
        let time = if flags & OTHER_TIME == 0 { time } else { cursor.other("time of the frame", time)? };
        Ok(Self { index, role, shape, tier, width, block, scales, accuracy, time })
    }
}
