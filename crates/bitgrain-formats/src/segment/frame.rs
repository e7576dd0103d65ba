//! `FrameHead`: head of one frame of a temporal tensor.

use bitgrain_codec::{BitWidth, BlockLen};

use super::cursor::Cursor;
use super::form::{read_block, read_form, write_block, write_form};
use super::{Accuracy, Form, SegmentError, Stamp, put, shape};

/// Meaning of a frame's codes. Other frames are referred to by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Codes of the values, with own scales.
    Key,
    /// Codes of the values, at the scales of frame `key`.
    Shared {
        /// Frame with the scales.
        key: u64,
    },
    /// Codes of the difference to the decoded frame `base`, with own scales.
    DifferenceKey {
        /// Frame that the difference refers to.
        base: u64,
    },
    /// Codes of the difference to the decoded frame `base`, at the scales of frame `key`.
    DifferenceShared {
        /// Frame with the scales.
        key: u64,
        /// Frame that the difference refers to.
        base: u64,
    },
}

/// Type of the stored scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleType {
    /// Two bytes.
    F16,
    /// Four bytes.
    F32,
}

/// Head of a frame. The body contains the scales, if the frame has its own, then the packed codes of each block;
/// or the values as f32 or f16.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameHead {
    /// 0-based index of the frame.
    pub index: u64,
    /// Meaning of the codes.
    pub role: Role,
    /// Length of each axis; the same for all frames of a tensor.
    pub shape: Vec<usize>,
    /// Number of the requested tier, 0 to 8.
    pub tier: u8,
    /// Representation of the values.
    pub values: FrameValues,
    /// Number of values that share a scale. Stored only for codes.
    pub block: BlockLen,
    /// Type of the scales, which are its own or those of its key frame.
    pub scales: ScaleType,
    /// Error of the values.
    pub accuracy: Accuracy,
    /// Timestamp given by the caller of `append`.
    pub time: u64,
    /// For a frame that was re-encoded: sequence number of the first record of frame 0 of this tensor. The record then
    /// replaces the frame with its index; other frames follow the frame before them.
    pub rewritten: Option<u64>,
}

/// Representation of the values of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameValues {
    /// Codes of this width.
    Codes(BitWidth),
    /// f32. The frame is a key that other frames do not refer to.
    Raw,
    /// f16. The frame is a key that other frames do not refer to.
    Half,
    /// None: the frame is reconstructed. It is a key that other frames do not refer to.
    Absent,
}

impl FrameValues {
    /// Returns the width of the codes, if the values are stored as codes.
    #[must_use]
    pub const fn width(self) -> Option<BitWidth> {
        match self {
            Self::Codes(width) => Some(width),
            Self::Raw | Self::Half | Self::Absent => None,
        }
    }

    /// Returns the bits per value, without scales.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.form().bits()
    }

    const fn form(self) -> Form {
        match self {
            Self::Codes(width) => Form::Blocks(width),
            Self::Raw => Form::Raw,
            Self::Half => Form::Half,
            Self::Absent => Form::Absent,
        }
    }
}

/// Bits of the role in the flags.
const ROLE: u8 = 0b11;
/// Flag: scales are f32.
const F32_SCALES: u8 = 1 << 2;
/// Flag: the timestamp differs from the time of writing.
const OTHER_TIME: u8 = 1 << 3;
/// Flag: the frame was re-encoded and replaces the one with its index.
const REWRITTEN: u8 = 1 << 4;

impl Role {
    /// Returns whether the frame has its own scales.
    #[must_use]
    pub const fn has_scales(self) -> bool {
        matches!(self, Self::Key | Self::DifferenceKey { .. })
    }

    /// Returns the frame whose scales it shares, if any.
    #[must_use]
    pub const fn key(self) -> Option<u64> {
        match self {
            Self::Key | Self::DifferenceKey { .. } => None,
            Self::Shared { key } | Self::DifferenceShared { key, .. } => Some(key),
        }
    }

    /// Returns the frame that the difference refers to, if any.
    #[must_use]
    pub const fn base(self) -> Option<u64> {
        match self {
            Self::Key | Self::Shared { .. } => None,
            Self::DifferenceKey { base } | Self::DifferenceShared { base, .. } => Some(base),
        }
    }
}

impl ScaleType {
    /// Returns the size of a scale in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

impl FrameHead {
    /// Returns the form of the values in the body.
    pub(super) const fn form(&self) -> Form {
        self.values.form()
    }

    /// Returns the size in bytes of the scales at the start of the body: 0 without own scales.
    #[must_use]
    pub fn scales_len(&self) -> usize {
        let scales = if self.role.has_scales() && self.values.width().is_some() {
            shape::count(&self.shape).div_ceil(self.block.get())
        } else {
            0
        };
        scales.saturating_mul(self.scales.bytes())
    }

    /// Returns the size of the body in bytes; `usize::MAX` if the values do not fit in memory.
    #[must_use]
    pub fn body_len(&self) -> usize {
        let count = shape::count(&self.shape);
        match self.values {
            // Block lengths are multiples of 8, so every full block ends at a byte and all codes pack like one block.
            FrameValues::Codes(width) => self.scales_len().saturating_add(width.packed_len(count)),
            FrameValues::Raw => count.saturating_mul(4),
            FrameValues::Half => count.saturating_mul(2),
            FrameValues::Absent => 0,
        }
    }

    pub(super) fn write(&self, stamp: &Stamp, out: &mut Vec<u8>) -> Result<(), SegmentError> {
        let time = stamp.time;
        let role = match self.role {
            Role::Key => 0,
            Role::Shared { .. } => 1,
            Role::DifferenceKey { .. } => 2,
            Role::DifferenceShared { .. } => 3,
        };
        let scales = if self.scales == ScaleType::F32 { F32_SCALES } else { 0 };
        let other_time = if self.time == time { 0 } else { OTHER_TIME };
        let rewritten = if self.rewritten.is_some() { REWRITTEN } else { 0 };
        if self.values.width().is_none() && role | scales != 0 {
            return Err(SegmentError::Unwritable { what: "a frame without codes", must: "a key without scales" });
        }
        put::varint(out, self.index);
        out.push(role | scales | other_time | rewritten);
        write_form(self.tier, self.form(), out)?;
        if self.values.width().is_some() {
            write_block(self.block, out);
        }
        shape::write(&self.shape, out)?;
        for frame in [self.role.key(), self.role.base()].into_iter().flatten() {
            let back = self.index.checked_sub(frame).filter(|&back| back > 0);
            let must = "an earlier one";
            put::varint(out, back.ok_or(SegmentError::Unwritable { what: "the base of a frame", must })?);
        }
        self.accuracy.write(out)?;
        if self.time != time {
            put::delta(out, self.time, time);
        }
        write_rewritten(self.rewritten, stamp.sequence, out)
    }

    pub(super) fn read(stamp: &Stamp, cursor: &mut Cursor<'_>) -> Result<Self, SegmentError> {
        let index = cursor.varint("frame index")?;
        let offset = cursor.offset();
        let flags = cursor.u8("frame role")?;
        if flags & !(ROLE | F32_SCALES | OTHER_TIME | REWRITTEN) != 0 {
            return Err(SegmentError::Value { what: "frame role", offset });
        }
        let offset = cursor.offset();
        let (tier, form) = read_form(cursor)?;
        let plain = flags & (ROLE | F32_SCALES) == 0;
        let (values, block) = match form {
            Form::Blocks(width) => (FrameValues::Codes(width), read_block(cursor)?),
            Form::Raw if plain => (FrameValues::Raw, BlockLen::DEFAULT),
            Form::Half if plain => (FrameValues::Half, BlockLen::DEFAULT),
            Form::Absent if plain => (FrameValues::Absent, BlockLen::DEFAULT),
            _ => return Err(SegmentError::Value { what: "frame form", offset }),
        };
        let shape = shape::read(cursor)?;
        let mut earlier = || {
            let offset = cursor.offset();
            let back = cursor.varint("frame distance")?;
            let frame = index.checked_sub(back).filter(|&frame| frame != index);
            frame.ok_or(SegmentError::Value { what: "frame distance", offset })
        };
        let role = match flags & ROLE {
            0 => Role::Key,
            1 => Role::Shared { key: earlier()? },
            2 => Role::DifferenceKey { base: earlier()? },
            _ => Role::DifferenceShared { key: earlier()?, base: earlier()? },
        };
        let scales = if flags & F32_SCALES == 0 { ScaleType::F16 } else { ScaleType::F32 };
        let accuracy = Accuracy::read(cursor)?;
        let time = if flags & OTHER_TIME == 0 { stamp.time } else { cursor.other("frame time", stamp.time)? };
        let rewritten = read_rewritten(flags & REWRITTEN != 0, stamp.sequence, cursor)?;
        Ok(Self { index, role, shape, tier, values, block, scales, accuracy, time, rewritten })
    }
}

/// Writes the distance of `sequence` from that of the first record of frame 0, for a frame that was re-encoded.
pub(super) fn write_rewritten(rewritten: Option<u64>, sequence: u64, out: &mut Vec<u8>) -> Result<(), SegmentError> {
    let Some(first) = rewritten else { return Ok(()) };
    let distance = sequence.checked_sub(first).filter(|&distance| distance > 0);
    let must = "before that of the re-encoded frame";
    put::varint(out, distance.ok_or(SegmentError::Unwritable { what: "the first sequence number of frames", must })?);
    Ok(())
}

pub(super) fn read_rewritten(
    rewritten: bool,
    sequence: u64,
    cursor: &mut Cursor<'_>,
) -> Result<Option<u64>, SegmentError> {
    if !rewritten {
        return Ok(None);
    }
    let offset = cursor.offset();
    let distance = cursor.varint("distance of the first frame")?;
    let first = sequence.checked_sub(distance).filter(|&first| first != sequence);
    first.map(Some).ok_or(SegmentError::Value { what: "distance of the first frame", offset })
}
