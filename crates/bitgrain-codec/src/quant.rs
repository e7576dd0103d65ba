//! Quantization block by block, for inspection: the same codes as [`BlockFormat`](crate::BlockFormat), with allocations
//! per block. Production code uses `BlockFormat`.

use alloc::vec;
use alloc::vec::Vec;

use bitgrain_kernels::blocks::{SCALE_LEN, block_scale};
use bitgrain_kernels::codes::{pack_i8, quantize};
use bitgrain_kernels::{Backend, BitWidth, BlockLen};

use crate::bound::usable_scale;
use crate::two_level::{self, Levels};
use crate::{CodecErr, NonFinite, TwoLevel};

/// Block size and treatment of unusual values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantConfig {
    /// Values per block, a multiple of 8.
    pub block_size: usize,
    /// Whether 3-bit blocks may have two scales.
    pub two_level: TwoLevel,
    /// Treatment of NaN and infinities.
    pub non_finite: NonFinite,
}

impl Default for QuantConfig {
    fn default() -> Self {
        Self { block_size: BlockLen::DEFAULT.get(), two_level: TwoLevel::default(), non_finite: NonFinite::default() }
    }
}

/// Codes of one block with its scale or scales.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedBlock {
    /// Step between two codes.
    pub scale: f32,
    /// Step between two codes of the values marked in `flags`.
    pub secondary_scale: Option<f32>,
    /// One bit per value, least significant first: set for values that use the secondary scale.
    pub flags: Option<Vec<u8>>,
    /// Signed codes, `-qmax..=qmax`.
    pub codes: Vec<i8>,
    /// Width of the codes.
    pub bits: u8,
}

impl QuantizedBlock {
    /// Serializes the block as in a tensor of the same format.
    ///
    /// # Errors
    /// Returns [`CodecErr::InvalidBitWidth`], [`CodecErr::InvalidScale`] or [`CodecErr::CodeOutOfRange`] if a field was
    /// changed to an invalid value, or [`CodecErr::InputTooSmall`] if there are fewer flags than codes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CodecErr> {
        let width = BitWidth::new(self.bits)?;
        let scales = [self.scale, self.secondary_scale.unwrap_or(0.0)];
        if !scales.iter().all(|&scale| usable_scale(width, scale)) {
            return Err(CodecErr::InvalidScale { index: 0 });
        }
        let mut out = self.scale.to_le_bytes().to_vec();
        if let Some(secondary) = self.secondary_scale {
            if width != two_level::WIDTH {
                return Err(CodecErr::InvalidBitWidth { bits: self.bits });
            }
            let required = self.codes.len().div_ceil(8);
            let flags = self.flags.as_deref().unwrap_or_default();
            out.extend(secondary.to_le_bytes());
            out.extend(flags.get(..required).ok_or(CodecErr::InputTooSmall { required })?);
            // The layout defines the spare bits as zero.
            if let (Some(last), spare @ 1..) = (out.last_mut(), 8 * required - self.codes.len()) {
                *last &= u8::MAX >> spare;
            }
        }
        let head = out.len();
        out.resize(head + width.packed_len(self.codes.len()), 0);
        pack_i8(Backend::best(), width, &self.codes, &mut out[head..])?;
        if width == BitWidth::W8 {
            // The range was checked above; 8-bit codes are stored in blocks as plain i8, without a bias.
            for (byte, code) in out[head..].iter_mut().zip(&self.codes) {
                *byte = code.cast_unsigned();
            }
        }
        Ok(out)
    }
}

/// Quantizes symmetrically to 8 bits, block by block: `scale = max_abs / 127`.
///
/// # Errors
/// Returns the errors of [`quantize_bits`].
pub fn quantize_s8(values: &[f32], config: &QuantConfig) -> Result<Vec<QuantizedBlock>, CodecErr> {
    quantize_bits(values, 8, config)
}

/// Quantizes symmetrically to 2 to 8 bits, block by block: `scale = max_abs / qmax`,
/// `code = round(x / scale)`, ties to even.
///
/// ```
/// use bitgrain_codec::{QuantConfig, dequantize, quantize_bits};
/// let blocks = quantize_bits(&[0.0, 0.5, -1.0, 1.5], 3, &QuantConfig::default())?;
/// assert_eq!((blocks[0].scale, &blocks[0].codes[..]), (0.5, &[0, 1, -2, 3][..]));
/// assert_eq!(dequantize(&blocks[0]), [0.0, 0.5, -1.0, 1.5]);
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
///
/// # Errors
/// Returns [`CodecErr::InvalidBitWidth`], [`CodecErr::InvalidBlockSize`], [`CodecErr::InvalidTwoLevel`], or
/// [`CodecErr::NonFinite`] if the policy is to reject.
pub fn quantize_bits(values: &[f32], bits: u8, config: &QuantConfig) -> Result<Vec<QuantizedBlock>, CodecErr> {
    let quantizer = BlockQuantizer::new(BitWidth::new(bits)?);
    let block = BlockLen::new(config.block_size)?.get();
    let blocks = values.chunks(block).enumerate();
    blocks.map(|(i, values)| quantizer.quantize_block(values, config).map_err(|e| e.shifted(i * block))).collect()
}

/// Dequantizes a block: `code * scale`, with the secondary scale where a flag is set. Missing flags count as not set.
#[must_use]
pub fn dequantize(block: &QuantizedBlock) -> Vec<f32> {
    let mut out = vec![0.0; block.codes.len()];
    dequantize_to(block, &mut out);
    out
}

fn dequantize_to(block: &QuantizedBlock, out: &mut [f32]) {
    let flags = block.flags.as_deref().unwrap_or_default();
    let secondary = block.secondary_scale.unwrap_or(block.scale);
    for (i, (value, &code)) in out.iter_mut().zip(&block.codes).enumerate() {
        let flagged = flags.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
        *value = f32::from(code) * if flagged { secondary } else { block.scale };
    }
}

/// Returns the largest `|value|`; NaN is ignored. Never allocates.
#[must_use]
pub fn max_abs(values: &[f32]) -> f32 {
    bitgrain_kernels::max_abs(Backend::best(), values)
}

/// A block quantizer at one width. New kinds of blocks implement this trait without changes to the codec.
pub trait TensorQuantizer {
    /// Returns the width of the codes in bits.
    fn bit_width(&self) -> u8;

    /// Quantizes one block of any length.
    ///
    /// # Errors
    /// Returns [`CodecErr::NonFinite`] if the policy is to reject.
    fn quantize_block(&self, values: &[f32], config: &QuantConfig) -> Result<QuantizedBlock, CodecErr>;

    /// Dequantizes one block into `out`.
    ///
    /// # Errors
    /// Returns [`CodecErr::OutputTooSmall`] if `out` is shorter than the block.
    fn dequantize_block(&self, block: &QuantizedBlock, out: &mut [f32]) -> Result<(), CodecErr>;

    /// Returns the size of `num_values` packed codes in bytes, without scales.
    fn packed_data_size(&self, num_values: usize) -> usize {
        let bits = usize::from(self.bit_width());
        (num_values / 8).saturating_mul(bits).saturating_add((num_values % 8 * bits).div_ceil(8))
    }

    /// Returns the size of a block of `block_size` values with one scale in bytes. Two-level blocks are larger, see
    /// [`BlockFormat::two_level`](crate::BlockFormat::two_level).
    fn block_storage_size(&self, block_size: usize) -> usize;
}

/// The symmetric quantizer of [`quantize_bits`], at any width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockQuantizer {
    width: BitWidth,
}

impl BlockQuantizer {
    /// Creates a quantizer with codes of `width`.
    #[must_use]
    pub const fn new(width: BitWidth) -> Self {
        Self { width }
    }
}

impl TensorQuantizer for BlockQuantizer {
    fn bit_width(&self) -> u8 {
        self.width.bits()
    }

    fn quantize_block(&self, values: &[f32], config: &QuantConfig) -> Result<QuantizedBlock, CodecErr> {
        let two_level = config.two_level.checked()?;
        let mut values = values.to_vec();
        if let Some(index) = values.iter().position(|v| !v.is_finite()) {
            if config.non_finite == NonFinite::Reject {
                return Err(CodecErr::NonFinite { index });
            }
            config.non_finite.sanitize(&mut values);
        }
        if let TwoLevel::Auto { threshold, outlier_fraction } = two_level
            && self.width == two_level::WIDTH
            && let mut magnitudes = Vec::new()
            && let Some(levels) = Levels::of(&values, outlier_fraction, &mut magnitudes)
            && levels.exceeds(threshold, &mut magnitudes)
        {
            return two_level_block(&values, levels);
        }
        let scale = block_scale(self.width, max_abs(&values));
        let mut codes = vec![0; values.len()];
        quantize(Backend::best(), self.width, &values, scale, &mut codes)?;
        Ok(QuantizedBlock { scale, secondary_scale: None, flags: None, codes, bits: self.width.bits() })
    }

    fn dequantize_block(&self, block: &QuantizedBlock, out: &mut [f32]) -> Result<(), CodecErr> {
        let required = block.codes.len();
        dequantize_to(block, out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?);
        Ok(())
    }

    fn block_storage_size(&self, block_size: usize) -> usize {
        self.packed_data_size(block_size).saturating_add(SCALE_LEN)
    }
}

fn two_level_block(values: &[f32], levels: Levels) -> Result<QuantizedBlock, CodecErr> {
    let mut codes = Vec::new();
    let mut flags = vec![0; values.len().div_ceil(8)];
    let [scale, secondary] = levels.quantize(values, &mut codes, &mut flags)?;
    let bits = two_level::WIDTH.bits();
    Ok(QuantizedBlock { scale, secondary_scale: Some(secondary), flags: Some(flags), codes, bits })
}
