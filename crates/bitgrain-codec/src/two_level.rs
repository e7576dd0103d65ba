//! 3-bit blocks with two scales: one for most values, one for the few outliers that a flag marks. Spec:
//! `spec/blocks.md#two-level-blocks`.

use alloc::vec::Vec;

use bitgrain_kernels::blocks::{SCALE_LEN, block_scale, unpack_dequantize};
use bitgrain_kernels::codes::{pack_i8, quantize};
use bitgrain_kernels::{Backend, BitWidth};

use crate::CodecErr;
use crate::bound::usable_scale;

/// Use of two scales in 3-bit blocks.
///
/// Off by default: at 40 bytes per block it is larger than plain 4-bit (36 bytes), which is also more accurate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum TwoLevel {
    /// One scale per block.
    #[default]
    Off,
    /// Two scales if the largest magnitude is more than `threshold` times the median magnitude.
    Auto {
        /// Ratio of the largest to the median magnitude above which a block counts as heavy-tailed.
        threshold: f32,
        /// Share of a block's values that use the second scale.
        outlier_fraction: f32,
    },
}

impl TwoLevel {
    /// The default settings: threshold 5, outlier fraction 0.05.
    pub const AUTO: Self = Self::Auto { threshold: 5.0, outlier_fraction: DEFAULT_OUTLIER_FRACTION };

    pub(crate) fn checked(self) -> Result<Self, CodecErr> {
        match self {
            Self::Auto { threshold, outlier_fraction }
                if !(threshold >= 1.0 && (0.0..=1.0).contains(&outlier_fraction)) =>
            {
                Err(CodecErr::InvalidTwoLevel { threshold, outlier_fraction })
            }
            fine => Ok(fine),
        }
    }
}

pub(crate) const DEFAULT_OUTLIER_FRACTION: f32 = 0.05;

/// Width of a two-level block's codes.
pub(crate) const WIDTH: BitWidth = BitWidth::W3;

/// The two maxima of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Levels {
    /// Largest magnitude that is not an outlier.
    pub(crate) primary_max: f32,
    /// Largest magnitude, outliers included.
    pub(crate) secondary_max: f32,
}

impl Levels {
    /// Splits the finite values of a block. Returns `None` if a second scale cannot help: fewer than two values, no
    /// outliers, or all other values zero. Leaves the bits of the magnitudes in `magnitudes`.
    pub(crate) fn of(values: &[f32], outlier_fraction: f32, magnitudes: &mut Vec<u32>) -> Option<Self> {
        // The bits of non-negative floats have the same order as the floats, and integers have a total order for
        // sorting.
        magnitudes.clear();
        magnitudes.extend(values.iter().map(|v| v.abs().to_bits()));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a block"
        )]
        let outliers = libm::ceilf(values.len() as f32 * outlier_fraction) as usize;
        if values.len() < 2 || outliers == 0 || outliers >= values.len() {
            return None;
        }
        // The median magnitude is zero if at most half of the values are nonzero.
        let nonzero = magnitudes.iter().filter(|&&bits| bits != 0).count();
        if nonzero <= values.len() / 2 {
            return None;
        }
        let bulk = values.len() - 1 - outliers;
        let (_, &mut primary_max, above) = magnitudes.select_nth_unstable(bulk);
        let secondary_max = above.iter().copied().fold(0, u32::max);
        let levels = Self { primary_max: f32::from_bits(primary_max), secondary_max: f32::from_bits(secondary_max) };
        (levels.primary_max > 0.0).then_some(levels)
    }

    /// Returns whether the largest magnitude is more than `threshold` times the median of `magnitudes`.
    pub(crate) fn exceeds(self, threshold: f32, magnitudes: &mut [u32]) -> bool {
        let middle = magnitudes.len() - 1 - magnitudes.len() / 2;
        let (_, &mut median, _) = magnitudes.select_nth_unstable(middle);
        self.secondary_max > threshold * f32::from_bits(median)
    }

    /// Computes the codes and flags of a block, and returns its two scales.
    pub(crate) fn quantize(self, values: &[f32], codes: &mut Vec<i8>, flags: &mut [u8]) -> Result<[f32; 2], CodecErr> {
        let scales = [block_scale(WIDTH, self.primary_max), block_scale(WIDTH, self.secondary_max)];
        // Quantize all values at the primary scale with vector instructions, then redo the few outliers.
        codes.resize(values.len(), 0);
        quantize(Backend::best(), WIDTH, values, scales[0], codes)?;
        flags.fill(0);
        for (i, value) in values.iter().enumerate() {
            if value.abs() > self.primary_max {
                flags[i / 8] |= 1 << (i % 8);
                quantize(Backend::scalar(), WIDTH, &values[i..=i], scales[1], &mut codes[i..=i])?;
            }
        }
        Ok(scales)
    }
}

/// Buffers that the encoder reuses from block to block.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    magnitudes: Vec<u32>,
    codes: Vec<i8>,
}

/// Returns the size of a two-level block of `len` values in bytes: two scales, flags, codes.
pub(crate) const fn block_len(len: usize) -> usize {
    2 * SCALE_LEN + len.div_ceil(8) + WIDTH.packed_len(len)
}

/// Encodes one block of finite values. `out` has exactly [`block_len`] bytes.
pub(crate) fn encode(
    values: &[f32],
    outlier_fraction: f32,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<(), CodecErr> {
    let levels = Levels::of(values, outlier_fraction, &mut scratch.magnitudes).unwrap_or_else(|| {
        // A single scale in the two-level layout: no value exceeds the maximum, so no flag is set.
        let max_abs = bitgrain_kernels::max_abs(Backend::best(), values);
        Levels { primary_max: max_abs, secondary_max: 0.0 }
    });
    let (head, rest) = out.split_at_mut(2 * SCALE_LEN);
    let (flags, packed) = rest.split_at_mut(values.len().div_ceil(8));
    let scales = levels.quantize(values, &mut scratch.codes, flags)?;
    for (bytes, scale) in head.chunks_mut(SCALE_LEN).zip(scales) {
        bytes.copy_from_slice(&scale.to_le_bytes());
    }
    pack_i8(Backend::best(), WIDTH, &scratch.codes, packed)?;
    Ok(())
}

/// Decodes one block. `bytes` has exactly [`block_len`] bytes. Error indices are relative to the block's first value.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) -> Result<(), CodecErr> {
    let [primary, secondary] = scales(bytes).ok_or(CodecErr::InvalidScale { index: 0 })?;
    let (flags, packed) = bytes[2 * SCALE_LEN..].split_at(out.len().div_ceil(8));
    // Decode all values at the primary scale with vector instructions, then redo the few outliers.
    unpack_dequantize(Backend::best(), WIDTH, packed, primary, out)?;
    for (eight, &flags) in flags.iter().enumerate() {
        let mut set = flags;
        while set != 0 {
            let i = 8 * eight + set.trailing_zeros() as usize;
            if let Some(value) = out.get_mut(i) {
                *value = f32::from(code_at(packed, i)) * secondary;
            }
            set &= set - 1;
        }
    }
    Ok(())
}

/// Returns the 3-bit code at index `i`.
fn code_at(packed: &[u8], i: usize) -> i8 {
    let (at, shift) = (3 * i / 8, 3 * i % 8);
    let window = u16::from_le_bytes([packed[at], packed.get(at + 1).copied().unwrap_or(0)]);
    let [biased, _] = (window >> shift & 0b111).to_le_bytes();
    biased.cast_signed() - WIDTH.qmax().cast_signed()
}

/// Returns the two scales of a block, or `None` if one is negative, not finite or too large.
pub(crate) fn scales(bytes: &[u8]) -> Option<[f32; 2]> {
    let (words, _) = bytes.as_chunks::<SCALE_LEN>();
    let scales = [f32::from_le_bytes(words[0]), f32::from_le_bytes(words[1])];
    scales.into_iter().all(|scale| usable_scale(WIDTH, scale)).then_some(scales)
}
