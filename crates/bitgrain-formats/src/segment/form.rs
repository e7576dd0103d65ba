//! `Form`: encoding of values and tier in one byte; and the block length stored next to it.

use bitgrain_codec::{BitWidth, BlockFormat, BlockLen};

use super::cursor::Cursor;
use super::{SegmentError, put};

/// Encoding of the values in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// f32 values.
    Raw,
    /// f16 values.
    Half,
    /// Blocks (`spec/blocks.md`).
    Blocks(BlockFormat),
    /// No values.
    Absent,
    /// Values in separate frame records: the tensor is temporal, and its record has what the frames have in common.
    Frames,
}

/// An [`Encoding`] without its block length: one byte together with the tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// f32.
    Raw,
    /// f16.
    Half,
    /// Blocks with one scale, or a frame.
    Blocks(BitWidth),
    /// Blocks of 3 bits with two scales.
    TwoLevel,
    /// No values.
    Absent,
    /// Values in separate frame records.
    Frames,
}

impl Encoding {
    /// Returns the encoding without its block length.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::Raw => Form::Raw,
            Self::Half => Form::Half,
            Self::Blocks(format) if format.is_two_level() => Form::TwoLevel,
            Self::Blocks(format) => Form::Blocks(format.width()),
            Self::Absent => Form::Absent,
            Self::Frames => Form::Frames,
        }
    }

    /// Returns the size of `count` values in bytes.
    #[must_use]
    pub const fn bytes(self, count: usize) -> usize {
        match self {
            Self::Raw => count.saturating_mul(4),
            Self::Half => count.saturating_mul(2),
            Self::Blocks(format) => format.encoded_len(count),
            Self::Absent | Self::Frames => 0,
        }
    }
}

impl Form {
    /// Returns the bits per value, without scales: 32 for f32, 0 if the body has no values.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Raw => 32,
            Self::Half => 16,
            Self::Blocks(width) => width.bits(),
            Self::TwoLevel => BitWidth::W3.bits(),
            Self::Absent | Self::Frames => 0,
        }
    }
}

/// Largest number of a tier.
pub(super) const LAST_TIER: u8 = 8;
const TWO_LEVEL: u8 = 9;
const RAW: u8 = 10;
const HALF: u8 = 11;
/// Position of the form in the byte; the lower three bits and the highest one are the tier.
const FORM_SHIFT: u8 = 3;
/// Mask of the form after the shift.
const FORM: u8 = 0b1111;

pub(super) fn check_tier(tier: u8) -> Result<(), SegmentError> {
    if tier > LAST_TIER { Err(SegmentError::Unwritable { what: "a tier", must: "0 to 8" }) } else { Ok(()) }
}

/// Writes tier and form to one byte. The fourth bit of the tier is the highest bit of the byte, because the first
/// version of the format had three bits for the tier: its readers reject the byte instead of misreading it.
pub(super) fn write_form(tier: u8, form: Form, out: &mut Vec<u8>) -> Result<(), SegmentError> {
    check_tier(tier)?;
    let form = match form {
        Form::Absent => 0,
        Form::Frames => 1,
        Form::Blocks(width) => width.bits(),
        Form::TwoLevel => TWO_LEVEL,
        Form::Raw => RAW,
        Form::Half => HALF,
    };
    out.push(tier & 0b111 | form << FORM_SHIFT | tier >> 3 << 7);
    Ok(())
}

pub(super) fn read_form(cursor: &mut Cursor<'_>) -> Result<(u8, Form), SegmentError> {
    let offset = cursor.offset();
    let byte = cursor.u8("tier and encoding")?;
    let form = match byte >> FORM_SHIFT & FORM {
        0 => Some(Form::Absent),
        1 => Some(Form::Frames),
        TWO_LEVEL => Some(Form::TwoLevel),
        RAW => Some(Form::Raw),
        HALF => Some(Form::Half),
        bits => BitWidth::new(bits).ok().map(Form::Blocks),
    };
    let tier = byte & 0b111 | byte >> 7 << 3;
    form.filter(|_| tier <= LAST_TIER)
        .map(|form| (tier, form))
        .ok_or(SegmentError::Value { what: "tier and encoding", offset })
}

/// Writes a block length in units of 8 values.
pub(super) fn write_block(block: BlockLen, out: &mut Vec<u8>) {
    put::varint(out, block.get() as u64 / 8);
}

pub(super) fn read_block(cursor: &mut Cursor<'_>) -> Result<BlockLen, SegmentError> {
    let offset = cursor.offset();
    let eights = cursor.size("block length")?;
    let block = eights.checked_mul(8).and_then(|len| BlockLen::new(len).ok());
    block.ok_or(SegmentError::Value { what: "block length", offset })
}

/// Writes a block layout without a tier.
pub(super) fn write_format(format: BlockFormat, out: &mut Vec<u8>) {
    out.push(if format.is_two_level() { TWO_LEVEL } else { format.width().bits() });
    write_block(format.block_len(), out);
}

pub(super) fn read_format(cursor: &mut Cursor<'_>) -> Result<BlockFormat, SegmentError> {
    let offset = cursor.offset();
    let format = match cursor.u8("block layout")? {
        TWO_LEVEL => BlockFormat::two_level(),
        bits => match BitWidth::new(bits) {
            Ok(width) => BlockFormat::new(width),
            Err(_) => return Err(SegmentError::Value { what: "block layout", offset }),
        },
    };
    Ok(format.with_block_len(read_block(cursor)?))
}
