//! `Planes`: strips of codes of 1 to 8 bits, with every kind of scale that weight formats use.
//!
//! A block of 32 columns of a strip is stored as bit planes. A plane of `p` bits (4, 2 or 1) takes `p` lines. The bytes of
//! line `l` contain the codes of the columns `4 * i..4 * i + 4` for `i = l, l + p, l + 2 * p, …`: the first of these groups
//! in the lowest `p` bits, the next one `p` bits above. Codes of 3, 5 and 6 bits have a lower plane (2, 4 and 4 bits) and an
//! upper one.

use super::{CodeLine, FloatLine, HalfLine, STRIP_BLOCK, STRIP_ROWS};
use crate::KernelError;
use crate::ggml::mxfp4_step;
use crate::scalar::f32_of;

/// Blocks that share the scales of K-quants.
pub(crate) const SUPER_BLOCKS: usize = 8;

/// Sixteen bytes: small integers that scale a block of each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct ByteLine(pub [u8; 16]);

/// Conversion of the codes of planes to integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaneCodes {
    /// Unsigned codes of 1, 2, 3, 4, 5, 6 or 8 bits.
    Bits(u8),
    /// Codes of 4 bits that are positions in a table of unsigned integers.
    Table([u8; 16]),
}

impl PlaneCodes {
    /// Returns the number of bits per code, which is the number of lines per block.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Self::Bits(bits) => bits as usize,
            Self::Table(_) => 4,
        }
    }

    /// Returns the bits of the lower and of the upper plane.
    const fn planes(self) -> (usize, usize) {
        match self.bits() {
            3 => (2, 1),
            5 => (4, 1),
            6 => (4, 2),
            bits => (bits, 0),
        }
    }
}

/// Scales of planes, and minima that are added to the scaled codes.
#[derive(Debug, Clone, Copy)]
pub enum PlaneScales<'a> {
    /// A scale in half precision per block.
    Halves(&'a [HalfLine]),
    /// A scale and a minimum in half precision per block.
    HalvesAndMins(&'a [[HalfLine; 2]]),
    /// The exponent byte of MXFP4 per block.
    Exponents(&'a [ByteLine]),
    /// An f32 per group of blocks.
    Groups {
        /// The scales.
        scales: &'a [FloatLine],
        /// Blocks per group; the last group of a row may have fewer.
        blocks: usize,
    },
    /// An f32 scale and a zero point per group of blocks: the integer, or half of one, that stands for 0.
    GroupsAndZeros {
        /// Scales and zero points.
        scales: &'a [[FloatLine; 2]],
        /// Blocks per group; the last group of a row may have fewer.
        blocks: usize,
    },
    /// For eight blocks, a scale and a scale of minima; for each block, an unsigned factor of each. Minima are subtracted.
    Affine {
        /// Scale and scale of minima per eight blocks.
        supers: &'a [[HalfLine; 2]],
        /// Factors per block.
        factors: &'a [[ByteLine; 2]],
    },
    /// For eight blocks, a scale; for each half of a block, a signed factor.
    Signed {
        /// Scale per eight blocks.
        supers: &'a [HalfLine],
        /// Factors of both halves of each block.
        factors: &'a [[ByteLine; 2]],
    },
    /// For eight blocks, a scale and a scale of minima; for each half of a block, a factor of the scale in the low nibble
    /// and one of the minimum in the high nibble. Minima are subtracted.
    Nibbles {
        /// Scale and scale of minima per eight blocks.
        supers: &'a [[HalfLine; 2]],
        /// Factors of both halves of each block.
        factors: &'a [[ByteLine; 2]],
    },
}

/// Borrowed strips of weights in planes.
#[derive(Debug, Clone, Copy)]
pub struct Planes<'a> {
    pub(crate) codes: PlaneCodes,
    pub(crate) zero: u8,
    pub(crate) blocks: usize,
    pub(crate) lines: &'a [CodeLine],
    pub(crate) scales: PlaneScales<'a>,
}

impl<'a> Planes<'a> {
    /// Creates strips of `blocks` blocks of 32 columns. The integer `zero` stands for 0.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] for another number of bits, no blocks, or blocks that do not fill the
    /// scales' groups of eight, [`KernelError::RowCount`] if the lines do not fill whole strips, or
    /// [`KernelError::InputTooSmall`] if the number of scales is wrong.
    pub fn new(
        codes: PlaneCodes,
        zero: u8,
        blocks: usize,
        lines: &'a [CodeLine],
        scales: PlaneScales<'a>,
    ) -> Result<Self, KernelError> {
        if !matches!(codes.bits(), 1..=6 | 8) {
            return Err(KernelError::InvalidBlockLen { len: codes.bits() });
        }
        let strip = blocks.saturating_mul(codes.bits());
        let group = match scales {
            PlaneScales::Groups { blocks, .. } | PlaneScales::GroupsAndZeros { blocks, .. } => blocks,
            PlaneScales::Affine { .. } | PlaneScales::Signed { .. } | PlaneScales::Nibbles { .. } => SUPER_BLOCKS,
            _ => 1,
        };
        let may_end_early = matches!(scales, PlaneScales::Groups { .. } | PlaneScales::GroupsAndZeros { .. });
        if blocks == 0 || group == 0 || !may_end_early && !blocks.is_multiple_of(group) {
            return Err(KernelError::InvalidBlockLen { len: blocks });
        }
        if !lines.len().is_multiple_of(strip) {
            let expected = lines.len() / strip * strip * 64;
            return Err(KernelError::RowCount { bytes: size_of_val(lines), expected });
        }
        let strips = lines.len() / strip;
        let required = strips.saturating_mul(blocks);
        let required_groups = strips.saturating_mul(blocks.div_ceil(group));
        let complete = match scales {
            PlaneScales::Halves(scales) => scales.len() == required,
            PlaneScales::HalvesAndMins(scales) => scales.len() == required,
            PlaneScales::Exponents(scales) => scales.len() == required,
            PlaneScales::Groups { scales, .. } => scales.len() == required_groups,
            PlaneScales::GroupsAndZeros { scales, .. } => scales.len() == required_groups,
            PlaneScales::Affine { supers, factors } | PlaneScales::Nibbles { supers, factors } => {
                supers.len() == required_groups && factors.len() == required
            }
            PlaneScales::Signed { supers, factors } => supers.len() == required_groups && factors.len() == required,
        };
        if !complete {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(Self { codes, zero, blocks, lines, scales })
    }

    /// Returns the number of strips.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.lines.len() / (self.blocks * self.codes.bits())
    }

    /// Returns the strips `from..to`.
    ///
    /// # Panics
    /// Panics if the range is out of bounds.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let strip = self.blocks * self.codes.bits();
        let blocks = from * self.blocks..to * self.blocks;
        let supers = from * self.blocks / SUPER_BLOCKS..to * self.blocks / SUPER_BLOCKS;
        let scales = match self.scales {
            PlaneScales::Halves(scales) => PlaneScales::Halves(&scales[blocks]),
            PlaneScales::HalvesAndMins(scales) => PlaneScales::HalvesAndMins(&scales[blocks]),
            PlaneScales::Exponents(scales) => PlaneScales::Exponents(&scales[blocks]),
            PlaneScales::Groups { scales, blocks } => {
                let groups = self.blocks.div_ceil(blocks);
                PlaneScales::Groups { scales: &scales[from * groups..to * groups], blocks }
            }
            PlaneScales::GroupsAndZeros { scales, blocks } => {
                let groups = self.blocks.div_ceil(blocks);
                PlaneScales::GroupsAndZeros { scales: &scales[from * groups..to * groups], blocks }
            }
            PlaneScales::Affine { supers: s, factors } => {
                PlaneScales::Affine { supers: &s[supers], factors: &factors[blocks] }
            }
            PlaneScales::Signed { supers: s, factors } => {
                PlaneScales::Signed { supers: &s[supers], factors: &factors[blocks] }
            }
            PlaneScales::Nibbles { supers: s, factors } => {
                PlaneScales::Nibbles { supers: &s[supers], factors: &factors[blocks] }
            }
        };
        Self { lines: &self.lines[from * strip..to * strip], scales, ..*self }
    }

    /// Returns the scale and the minimum of a half of a block of row `lane`, in a single strip.
    #[inline]
    pub(crate) fn scale(&self, block: usize, half: usize, lane: usize) -> (f32, f32) {
        let both = |supers: &[[HalfLine; 2]], scale: u8, min: u8| {
            let [scales, mins] = &supers[block / SUPER_BLOCKS];
            (f32_of(scales.0[lane]) * f32::from(scale), -(f32_of(mins.0[lane]) * f32::from(min)))
        };
        match self.scales {
            PlaneScales::Halves(scales) => (f32_of(scales[block].0[lane]), 0.0),
            PlaneScales::HalvesAndMins(scales) => (f32_of(scales[block][0].0[lane]), f32_of(scales[block][1].0[lane])),
            PlaneScales::Exponents(scales) => (mxfp4_step(scales[block].0[lane]), 0.0),
            PlaneScales::Groups { scales, blocks } => (scales[block / blocks].0[lane], 0.0),
            PlaneScales::GroupsAndZeros { scales, blocks } => {
                let [scales, zeros] = &scales[block / blocks];
                (scales.0[lane], -(scales.0[lane] * zeros.0[lane]))
            }
            PlaneScales::Affine { supers, factors } => {
                both(supers, factors[block][0].0[lane], factors[block][1].0[lane])
            }
            PlaneScales::Signed { supers, factors } => {
                let factor = factors[block][half].0[lane].cast_signed();
                (f32_of(supers[block / SUPER_BLOCKS].0[lane]) * f32::from(factor), 0.0)
            }
            PlaneScales::Nibbles { supers, factors } => {
                let factor = factors[block][half].0[lane];
                both(supers, factor & 15, factor >> 4)
            }
        }
    }

    /// Returns the 32 integers of row `lane` in a block of a single strip, minus the one that stands for 0.
    #[inline]
    pub(crate) fn integers(&self, block: usize, lane: usize) -> [i32; STRIP_BLOCK] {
        core::array::from_fn(|column| {
            let code = self.code(block, column, lane);
            let integer = match self.codes {
                PlaneCodes::Bits(_) => code,
                PlaneCodes::Table(table) => table[usize::from(code & 15)],
            };
            i32::from(integer) - i32::from(self.zero)
        })
    }

    /// Writes the codes of a row from column `first` on.
    ///
    /// # Errors
    /// Returns [`KernelError::InputTooSmall`] if the row does not exist or has fewer codes.
    pub fn codes_into(&self, row: usize, first: usize, out: &mut [u8]) -> Result<(), KernelError> {
        let (strip, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
        let required = first.saturating_add(out.len());
        if strip >= self.count() || required > self.blocks * STRIP_BLOCK {
            return Err(KernelError::InputTooSmall { required });
        }
        let strip = self.range(strip, strip + 1);
        for (column, out) in (first..).zip(out) {
            *out = strip.code(column / STRIP_BLOCK, column % STRIP_BLOCK, lane);
        }
        Ok(())
    }

    /// Returns the code of a column of a block of row `lane`, in a single strip.
    #[inline]
    fn code(&self, block: usize, column: usize, lane: usize) -> u8 {
        let lines = &self.lines[block * self.codes.bits()..][..self.codes.bits()];
        let (lower, upper) = self.codes.planes();
        let mut code = field(&lines[..lower], lower, column, lane);
        if upper > 0 {
            code |= field(&lines[lower..], upper, column, lane) << lower;
        }
        code
    }

    /// Writes `out.len()` weights of a row, and the largest magnitude among the terms of each to `magnitudes`.
    ///
    /// # Errors
    /// Returns [`KernelError::InputTooSmall`] if the row does not exist or has fewer weights.
    pub fn row_into(&self, row: usize, out: &mut [f32], mut magnitudes: Option<&mut [f32]>) -> Result<(), KernelError> {
        let (strip, lane) = (row / STRIP_ROWS, row % STRIP_ROWS);
        if strip >= self.count() || out.len() > self.blocks * STRIP_BLOCK {
            return Err(KernelError::InputTooSmall { required: out.len() });
        }
        let strip = self.range(strip, strip + 1);
        for (block, out) in out.chunks_mut(STRIP_BLOCK).enumerate() {
            let integers = strip.integers(block, lane);
            for (half, out) in out.chunks_mut(STRIP_BLOCK / 2).enumerate() {
                let (scale, min) = strip.scale(block, half, lane);
                for (at, (out, integer)) in out.iter_mut().zip(&integers[STRIP_BLOCK / 2 * half..]).enumerate() {
                    #[expect(clippy::cast_precision_loss, reason = "at most 8 bits and a sign")]
                    let integer = *integer as f32;
                    let scaled = scale * integer;
                    *out = match strip.scales {
                        PlaneScales::GroupsAndZeros { scales, blocks } => {
                            scale * (integer - scales[block / blocks][1].0[lane])
                        }
                        _ if self.has_mins() => scaled + min,
                        _ => scaled,
                    };
                    let at = STRIP_BLOCK * block + STRIP_BLOCK / 2 * half + at;
                    if let Some(magnitude) = magnitudes.as_deref_mut().and_then(|all| all.get_mut(at)) {
                        *magnitude = scaled.abs() + min.abs();
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether the halves of a block have separate scales.
    pub(crate) const fn is_halved(&self) -> bool {
        matches!(self.scales, PlaneScales::Signed { .. } | PlaneScales::Nibbles { .. })
    }

    pub(crate) const fn has_mins(&self) -> bool {
        matches!(
            self.scales,
            PlaneScales::HalvesAndMins(_)
                | PlaneScales::GroupsAndZeros { .. }
                | PlaneScales::Affine { .. }
                | PlaneScales::Nibbles { .. }
        )
    }
}

/// Returns the bits of a column in a plane.
#[inline]
fn field(plane: &[CodeLine], bits: usize, column: usize, lane: usize) -> u8 {
    let four = column / 4;
    let byte = plane[four % bits].0[4 * lane + column % 4];
    let mask = if bits == 8 { u8::MAX } else { (1 << bits) - 1 };
    byte >> (four / bits * bits) & mask
}

/// Writes a row of codes into the planes of a strip, as row `lane` of sixteen. The strip must be zero there.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if the strip has fewer columns or the lane is not below 16, or
/// [`KernelError::CodeOutOfRange`] for a code that does not fit.
pub fn pack_plane_row(kind: PlaneCodes, lane: usize, codes: &[u8], strip: &mut [CodeLine]) -> Result<(), KernelError> {
    let required = codes.len().div_ceil(STRIP_BLOCK) * kind.bits();
    if strip.len() < required || lane >= STRIP_ROWS {
        return Err(KernelError::OutputTooSmall { required });
    }
    if let Some(index) = codes.iter().position(|&code| usize::from(code) >> kind.bits() != 0) {
        return Err(KernelError::CodeOutOfRange { index, code: i32::from(codes[index]) });
    }
    let (lower, upper) = kind.planes();
    for (codes, lines) in codes.chunks(STRIP_BLOCK).zip(strip.chunks_exact_mut(kind.bits())) {
        let (low, high) = lines.split_at_mut(lower);
        for (column, &code) in codes.iter().enumerate() {
            let four = column / 4;
            let mask = if lower == 8 { u8::MAX } else { (1 << lower) - 1 };
            low[four % lower].0[4 * lane + column % 4] |= (code & mask) << (four / lower * lower);
            if let Some(step) = four.checked_div(upper) {
                high[four % upper].0[4 * lane + column % 4] |= (code >> lower) << (step * upper);
            }
        }
    }
    Ok(())
}
