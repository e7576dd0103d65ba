//! `Strips`: sixteen rows of weights at a time, in the order in which products read them.

use super::{CodeLine, FloatLine, HalfLine, STRIP_BLOCK, STRIP_ROWS};
use crate::KernelError;
use crate::scalar::f32_of;

/// Bits per code of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StripBits {
    /// Codes of -8 to 7. A byte holds a column of the block's first half in its low nibble and the column 16 further in
    /// its high nibble.
    Four,
    /// Codes of -128 to 127.
    Eight,
}

impl StripBits {
    /// Returns the number of lines per block of 32 columns.
    #[must_use]
    pub const fn lines(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Returns the unsigned code that stands for 0.
    #[must_use]
    pub const fn zero(self) -> u8 {
        match self {
            Self::Four => 8,
            Self::Eight => 128,
        }
    }

    /// Returns a line of codes that stand for 0.
    #[must_use]
    pub const fn empty_line(self) -> CodeLine {
        match self {
            Self::Four => CodeLine([0x88; 64]),
            Self::Eight => CodeLine([0x80; 64]),
        }
    }
}

/// Scales of strips.
#[derive(Debug, Clone, Copy)]
pub enum StripScales<'a> {
    /// One line per block of each strip.
    Halves(&'a [HalfLine]),
    /// One line per group of blocks of each strip.
    Groups {
        /// The scales.
        scales: &'a [FloatLine],
        /// Blocks per group; the last group of a row may have fewer.
        blocks: usize,
    },
}

/// Borrowed strips of weights.
#[derive(Debug, Clone, Copy)]
pub struct Strips<'a> {
    pub(crate) bits: StripBits,
    pub(crate) blocks: usize,
    pub(crate) lines: &'a [CodeLine],
    pub(crate) scales: StripScales<'a>,
}

impl<'a> Strips<'a> {
    /// Creates strips of `blocks` blocks of 32 columns.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] if the number of blocks, or of blocks per group, is zero,
    /// [`KernelError::RowCount`] if the lines do not fill whole strips, or [`KernelError::InputTooSmall`] if scales are
    /// missing.
    pub fn new(
        bits: StripBits,
        blocks: usize,
        lines: &'a [CodeLine],
        scales: StripScales<'a>,
    ) -> Result<Self, KernelError> {
        let (each, scale_lines) = match scales {
            StripScales::Halves(lines) => (1, lines.len()),
            StripScales::Groups { scales, blocks } => (blocks, scales.len()),
        };
        if blocks == 0 || each == 0 {
            return Err(KernelError::InvalidBlockLen { len: 0 });
        }
        let strip = blocks.saturating_mul(bits.lines());
        if !lines.len().is_multiple_of(strip) {
            return Err(KernelError::RowCount {
                bytes: size_of_val(lines),
                expected: lines.len() / strip * strip * 64,
            });
        }
        let required = (lines.len() / strip).saturating_mul(blocks.div_ceil(each));
        if scale_lines != required {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(Self { bits, blocks, lines, scales })
    }

    /// Returns the number of strips.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.lines.len() / (self.blocks * self.bits.lines())
    }

    /// Returns the strips `from..to`.
    ///
    /// # Panics
    /// Panics if the range is out of bounds.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let strip = self.blocks * self.bits.lines();
        let scales = match self.scales {
            StripScales::Halves(lines) => StripScales::Halves(&lines[from * self.blocks..to * self.blocks]),
            StripScales::Groups { scales, blocks } => {
                let groups = self.blocks.div_ceil(blocks);
                StripScales::Groups { scales: &scales[from * groups..to * groups], blocks }
            }
        };
        Self { lines: &self.lines[from * strip..to * strip], scales, ..*self }
    }

    /// Writes the codes of a row from block `first` on.
    ///
    /// # Errors
    /// Returns [`KernelError::InputTooSmall`] if the row does not exist or has fewer codes.
    #[expect(clippy::cast_possible_truncation, reason = "codes of at most 8 bits")]
    pub fn codes_into(&self, row: usize, first: usize, out: &mut [i8]) -> Result<(), KernelError> {
        let (strip, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
        let required = first.saturating_mul(STRIP_BLOCK).saturating_add(out.len());
        if strip >= self.count() || required > self.blocks * STRIP_BLOCK {
            return Err(KernelError::InputTooSmall { required });
        }
        let strip = self.range(strip, strip + 1);
        let blocks = strip.lines.chunks_exact(self.bits.lines()).skip(first);
        for (lines, out) in blocks.zip(out.chunks_mut(STRIP_BLOCK)) {
            let codes = block_codes(self.bits, lines, lane);
            out.iter_mut().zip(codes).for_each(|(out, code)| *out = code as i8);
        }
        Ok(())
    }

    /// Writes `out.len()` weights of a row: code times scale.
    ///
    /// # Errors
    /// Returns [`KernelError::InputTooSmall`] if the row does not exist or has fewer weights.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), KernelError> {
        let (strip, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
        if strip >= self.count() || out.len() > self.blocks * STRIP_BLOCK {
            return Err(KernelError::InputTooSmall { required: out.len() });
        }
        let strip = self.range(strip, strip + 1);
        let blocks = strip.lines.chunks_exact(self.bits.lines());
        for (block, (lines, out)) in blocks.zip(out.chunks_mut(STRIP_BLOCK)).enumerate() {
            let scale = match strip.scales {
                StripScales::Halves(halves) => f32_of(halves[block].0[lane]),
                StripScales::Groups { scales, blocks } => scales[block / blocks].0[lane],
            };
            let codes = block_codes(self.bits, lines, lane);
            out.iter_mut().zip(codes).for_each(|(out, code)| *out = f32::from(code) * scale);
        }
        Ok(())
    }
}

/// Returns the 32 codes of a row in a block.
#[inline]
pub(crate) fn block_codes(bits: StripBits, lines: &[CodeLine], lane: usize) -> [i16; STRIP_BLOCK] {
    let mut codes = [0; STRIP_BLOCK];
    let zero = i16::from(bits.zero());
    for (four, line) in lines.iter().enumerate() {
        for (i, &byte) in line.0[4 * lane..][..4].iter().enumerate() {
            match bits {
                StripBits::Four => {
                    codes[4 * four + i] = i16::from(byte & 15) - zero;
                    codes[16 + 4 * four + i] = i16::from(byte >> 4) - zero;
                }
                StripBits::Eight => codes[4 * four + i] = i16::from(byte) - zero,
            }
        }
    }
    codes
}

/// Writes a row of codes into a strip, as row `lane` of sixteen. Later columns are left unchanged.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if the strip has fewer columns or the lane is not below 16, or
/// [`KernelError::CodeOutOfRange`] for a code that does not fit 4 bits.
pub fn pack_strip_row(bits: StripBits, lane: usize, codes: &[i8], strip: &mut [CodeLine]) -> Result<(), KernelError> {
    let required = codes.len().div_ceil(STRIP_BLOCK) * bits.lines();
    if strip.len() < required || lane >= STRIP_ROWS {
        return Err(KernelError::OutputTooSmall { required });
    }
    if bits == StripBits::Four
        && let Some(index) = codes.iter().position(|code| !(-8..8).contains(code))
    {
        return Err(KernelError::CodeOutOfRange { index, code: i32::from(codes[index]) });
    }
    for (codes, lines) in codes.chunks(STRIP_BLOCK).zip(strip.chunks_exact_mut(bits.lines())) {
        for (column, &code) in codes.iter().enumerate() {
            match bits {
                StripBits::Four => {
                    let byte = &mut lines[column % 16 / 4].0[4 * lane + column % 4];
                    let (nibble, shift) = (code.cast_unsigned() & 15 ^ 8, column / 16 * 4);
                    *byte = *byte & 0xF0 >> shift | nibble << shift;
                }
                StripBits::Eight => lines[column / 4].0[4 * lane + column % 4] = code.cast_unsigned() ^ 0x80,
            }
        }
    }
    Ok(())
}
