//! `Tile`: a few rows of activations as 8-bit codes.

use super::{STRIP_BLOCK, StripBits};
use crate::backend::on;
use crate::{Backend, KernelError};

/// 2^-120: smaller magnitudes count as 0, because the inverse of their scale may not be finite.
pub(crate) const TINY: f32 = f32::from_bits(7 << 23);

/// Quantized rows of activations: 1, 4, 8 or 16 rows, in blocks of 32 columns.
#[derive(Debug, Clone, Copy)]
pub struct Tile<'a> {
    width: usize,
    codes: &'a [i32],
    scales: &'a [f32],
    sums: &'a [i32],
}

impl<'a> Tile<'a> {
    /// Creates a tile of `width` rows from arrays filled by [`quantize_activations`].
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] unless the width is 1, 4, 8 or 16, or [`KernelError::InputTooSmall`] if
    /// the arrays do not have eight integers of codes, a scale and a sum per block of each row.
    pub fn new(width: usize, codes: &'a [i32], scales: &'a [f32], sums: &'a [i32]) -> Result<Self, KernelError> {
        if !matches!(width, 1 | 4 | 8 | 16) {
            return Err(KernelError::InvalidBlockLen { len: width });
        }
        let required = sums.len();
        if scales.len() != required || codes.len() != 8 * required || !required.is_multiple_of(width) {
            return Err(KernelError::InputTooSmall { required });
        }
        Ok(Self { width, codes, scales, sums })
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of blocks of 32 columns.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.sums.len() / self.width
    }

    /// Returns the codes and the scale at position `at`, a block times the width plus a row.
    pub(crate) fn codes_and_scale(&self, at: usize) -> (&'a [i32; 8], f32) {
        (&self.codes.as_chunks().0[at], self.scales[at])
    }

    /// Returns the blocks of a tile of `W` rows. Empty for a tile of another width.
    #[inline]
    pub(crate) fn blocks_of<const W: usize>(&self) -> TileBlocks<'a, W> {
        if self.width != W {
            return TileBlocks { codes: &[], scales: &[], sums: &[] };
        }
        TileBlocks {
            codes: self.codes.as_chunks::<8>().0.as_chunks::<W>().0,
            scales: self.scales.as_chunks::<W>().0,
            sums: self.sums.as_chunks::<W>().0,
        }
    }
}

/// A tile whose width is part of the type.
#[derive(Clone, Copy)]
pub(crate) struct TileBlocks<'a, const W: usize> {
    /// Codes of each row of each block, four per integer, first column in the low byte.
    pub(crate) codes: &'a [[[i32; 8]; W]],
    pub(crate) scales: &'a [[f32; W]],
    /// Sum of a block's codes times the code of weight 0, negated.
    #[cfg_attr(
        not(any(
            target_arch = "x86_64",
            all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
            all(target_arch = "wasm32", target_feature = "simd128")
        )),
        expect(dead_code, reason = "only vector kernels compute with stored codes")
    )]
    pub(crate) sums: &'a [[i32; W]],
}

/// Quantizes a row of activations into row `slot` of a tile of `width` rows, for weights of `bits` bits.
///
/// In each block of 32, the last one padded with zeros, the scale is the largest magnitude over 127, and the codes are
/// the activations times its inverse, rounded, ties to even. The error is at most half a scale plus the rounding error
/// of that product. A block whose largest magnitude is below 2^-120 counts as zeros.
///
/// # Errors
/// Returns [`KernelError::NonFinite`] for the first NaN or infinity, or [`KernelError::OutputTooSmall`] if the arrays
/// do not have the size of a tile with these dimensions.
pub fn quantize_activations(
    backend: Backend,
    bits: StripBits,
    values: &[f32],
    (slot, width): (usize, usize),
    codes: &mut [i32],
    scales: &mut [f32],
    sums: &mut [i32],
) -> Result<(), KernelError> {
    let required = values.len().div_ceil(STRIP_BLOCK).saturating_mul(width);
    let fits = codes.len() == required.saturating_mul(8) && scales.len() == required && sums.len() == required;
    if !fits || slot >= width {
        return Err(KernelError::OutputTooSmall { required });
    }
    let place = Place { slot, width, zero: i32::from(bits.zero()) };
    if on!(backend, quantize_activations(values, place, codes, scales, sums)) {
        return Ok(());
    }
    let index = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
    Err(KernelError::NonFinite { index })
}

/// Position of a row in a tile.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    slot: usize,
    width: usize,
    zero: i32,
}

impl Place {
    /// Stores a block's 32 codes, its scale and its sum.
    #[inline(always)]
    pub(crate) fn store(
        self,
        block: usize,
        row: &[[u8; 4]; 8],
        scale: f32,
        sum: i32,
        (codes, scales, sums): (&mut [i32], &mut [f32], &mut [i32]),
    ) {
        let at = block * self.width + self.slot;
        scales[at] = scale;
        sums[at] = -self.zero * sum;
        for (code, four) in codes[8 * at..][..8].iter_mut().zip(row) {
            *code = i32::from_le_bytes(*four);
        }
    }
}

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
impl<const W: usize> TileBlocks<'_, W> {
    /// Returns the first `count` blocks.
    #[inline(always)]
    pub(crate) fn first(self, count: usize) -> Self {
        Self { codes: &self.codes[..count], scales: &self.scales[..count], sums: &self.sums[..count] }
    }

    /// Returns the blocks after the first `count`.
    #[inline(always)]
    pub(crate) fn after(self, count: usize) -> Self {
        Self { codes: &self.codes[count..], scales: &self.scales[count..], sums: &self.sums[count..] }
    }
}
