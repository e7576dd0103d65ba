//! Block formats of tensors: contiguous bytes, as stored at rest. Spec: `spec/blocks.md`.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use bitgrain_kernels::blocks::{SCALE_LEN, blocks_len, decode_blocks, encode_blocks};
use bitgrain_kernels::{Backend, BitWidth, BlockLen};

use crate::bound::usable_scale;
use crate::two_level::{self, DEFAULT_OUTLIER_FRACTION, Levels, Scratch};
use crate::{CodecErr, NonFinite, QuantConfig, TwoLevel, bound_of_scale};

/// Layout of a tensor's blocks: width of the codes, values per block, one scale or two. Blocks follow each other
/// without padding and only the last one may be shorter, so the offset of any block is one multiplication.
///
/// ```
/// use bitgrain_codec::{BitWidth, BlockFormat};
/// let bytes = |format: BlockFormat| format.encoded_len(64);
/// assert_eq!(bytes(BlockFormat::new(BitWidth::W8)), 68);
/// assert_eq!(bytes(BlockFormat::new(BitWidth::W3)), 28);
/// assert_eq!(bytes(BlockFormat::two_level()), 40);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockFormat {
    width: BitWidth,
    block: BlockLen,
    two_level: bool,
}

/// Options of an encoder that do not change the layout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EncodeOptions {
    /// Treatment of NaN and infinities.
    pub non_finite: NonFinite,
    /// Share of a two-level block's values that use the second scale.
    pub outlier_fraction: f32,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self { non_finite: NonFinite::default(), outlier_fraction: DEFAULT_OUTLIER_FRACTION }
    }
}

impl From<&QuantConfig> for EncodeOptions {
    fn from(config: &QuantConfig) -> Self {
        let outlier_fraction = match config.two_level {
            TwoLevel::Auto { outlier_fraction, .. } => outlier_fraction,
            TwoLevel::Off => DEFAULT_OUTLIER_FRACTION,
        };
        Self { non_finite: config.non_finite, outlier_fraction }
    }
}

impl BlockFormat {
    /// Creates a format with one scale per block of 64 values.
    #[must_use]
    pub const fn new(width: BitWidth) -> Self {
        Self { width, block: BlockLen::DEFAULT, two_level: false }
    }

    /// Creates the format of 3-bit codes with two scales and a flag per value, in blocks of 64 values.
    #[must_use]
    pub const fn two_level() -> Self {
        Self { width: two_level::WIDTH, block: BlockLen::DEFAULT, two_level: true }
    }

    /// Returns the same format with another block length.
    #[must_use]
    pub const fn with_block_len(self, block: BlockLen) -> Self {
        Self { block, ..self }
    }

    /// Chooses the format of `values` at `width`: two-level if `two_level` allows it, the width is 3, and more than
    /// half of the blocks are heavy-tailed. The choice holds for the whole tensor, so that all blocks have the same
    /// size. The format does not contain the outlier fraction: encode with [`EncodeOptions`] that have the same one.
    ///
    /// # Errors
    /// Returns [`CodecErr::InvalidTwoLevel`] if the settings are out of range.
    pub fn choose(width: BitWidth, block: BlockLen, two_level: TwoLevel, values: &[f32]) -> Result<Self, CodecErr> {
        let plain = Self::new(width).with_block_len(block);
        let TwoLevel::Auto { threshold, outlier_fraction } = two_level.checked()? else { return Ok(plain) };
        if width != two_level::WIDTH {
            return Ok(plain);
        }
        let mut magnitudes = Vec::with_capacity(block.get());
        let heavy = |values: &&[f32]| {
            values.iter().all(|v| v.is_finite())
                && Levels::of(values, outlier_fraction, &mut magnitudes)
                    .is_some_and(|levels| levels.exceeds(threshold, &mut magnitudes))
        };
        let heavy = values.chunks(block.get()).filter(heavy).count();
        let majority = heavy > values.len().div_ceil(block.get()) / 2;
        Ok(if majority { Self::two_level().with_block_len(block) } else { plain })
    }

    /// Returns the width of the codes.
    #[must_use]
    pub const fn width(self) -> BitWidth {
        self.width
    }

    /// Returns the number of values per block.
    #[must_use]
    pub const fn block_len(self) -> BlockLen {
        self.block
    }

    /// Returns whether blocks have two scales.
    #[must_use]
    pub const fn is_two_level(self) -> bool {
        self.two_level
    }

    /// Returns the size of a full block in bytes.
    #[must_use]
    pub const fn block_bytes(self) -> usize {
        self.bytes_of(self.block.get())
    }

    /// Returns the size of a block of `len` values in bytes.
    const fn bytes_of(self, len: usize) -> usize {
        if self.two_level { two_level::block_len(len) } else { SCALE_LEN + self.width.packed_len(len) }
    }

    /// Returns the size of `count` encoded values in bytes; `usize::MAX` if it overflows.
    #[must_use]
    pub const fn encoded_len(self, count: usize) -> usize {
        if !self.two_level {
            return blocks_len(self.width, self.block, count);
        }
        let (full, rest) = (count / self.block.get(), count % self.block.get());
        let tail = if rest == 0 { 0 } else { self.bytes_of(rest) };
        full.saturating_mul(self.block_bytes()).saturating_add(tail)
    }

    /// Encodes a tensor of finite values.
    ///
    /// # Errors
    /// Returns [`CodecErr::NonFinite`] for the first NaN or infinity.
    pub fn encode(self, values: &[f32]) -> Result<Vec<u8>, CodecErr> {
        let mut out = vec![0; self.encoded_len(values.len())];
        self.encode_into(values, &EncodeOptions::default(), &mut out)?;
        Ok(out)
    }

    /// Encodes a tensor into `out`. Returns the number of bytes written, [`encoded_len`](Self::encoded_len). One-level
    /// blocks of finite values do not allocate; otherwise each call allocates scratch memory for one block.
    ///
    /// # Errors
    /// Returns [`CodecErr::OutputTooSmall`]; [`CodecErr::NonFinite`] if the policy is to reject; or
    /// [`CodecErr::InvalidTwoLevel`] for a two-level format with an outlier fraction outside 0 to 1.
    pub fn encode_into(self, values: &[f32], options: &EncodeOptions, out: &mut [u8]) -> Result<usize, CodecErr> {
        let required = self.encoded_len(values.len());
        let out = out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?;
        if self.two_level {
            TwoLevel::Auto { threshold: 1.0, outlier_fraction: options.outlier_fraction }.checked()?;
            self.encode_two_level(values, options, out)?;
        } else {
            self.encode_one_level(values, options, out)?;
        }
        Ok(required)
    }

    fn encode_one_level(self, values: &[f32], options: &EncodeOptions, out: &mut [u8]) -> Result<(), CodecErr> {
        let backend = Backend::best();
        let (block, stride) = (self.block.get(), self.block_bytes());
        let mut clean = Vec::new();
        let mut start = 0;
        // The kernel stops at the first block with a non-finite value; all blocks before it are already written.
        while let Err(error) =
            encode_blocks(backend, self.width, self.block, &values[start * block..], &mut out[start * stride..])
        {
            let error = CodecErr::from(error).shifted(start * block);
            let CodecErr::NonFinite { index } = error else { return Err(error) };
            if options.non_finite == NonFinite::Reject {
                return Err(error);
            }
            start = index / block;
            let dirty = &values[start * block..values.len().min((start + 1) * block)];
            clean.clear();
            clean.extend_from_slice(dirty);
            options.non_finite.sanitize(&mut clean);
            encode_blocks(backend, self.width, self.block, &clean, &mut out[start * stride..])?;
            start += 1;
            if start * block >= values.len() {
                break;
            }
        }
        Ok(())
    }

    fn encode_two_level(self, values: &[f32], options: &EncodeOptions, out: &mut [u8]) -> Result<(), CodecErr> {
        let mut scratch = Scratch::default();
        let mut clean = Vec::new();
        let blocks = values.chunks(self.block.get()).zip(out.chunks_mut(self.block_bytes()));
        for (i, (mut block, out)) in blocks.enumerate() {
            if let Some(index) = block.iter().position(|v| !v.is_finite()) {
                if options.non_finite == NonFinite::Reject {
                    return Err(CodecErr::NonFinite { index }.shifted(i * self.block.get()));
                }
                clean.clear();
                clean.extend_from_slice(block);
                options.non_finite.sanitize(&mut clean);
                block = &clean;
            }
            two_level::encode(block, options.outlier_fraction, &mut scratch, out)?;
        }
        Ok(())
    }

    /// Decodes a tensor of `count` values. The length of `bytes` is checked before allocating.
    ///
    /// # Errors
    /// Returns the errors of [`decode_into`](Self::decode_into).
    pub fn decode(self, bytes: &[u8], count: usize) -> Result<Vec<f32>, CodecErr> {
        self.checked(bytes, count)?;
        let mut out = vec![0.0; count];
        self.decode_into(bytes, &mut out)?;
        Ok(out)
    }

    /// Decodes `out.len()` finite values. Returns the number of bytes read.
    ///
    /// # Errors
    /// Returns [`CodecErr::InputTooSmall`], or [`CodecErr::InvalidScale`] or [`CodecErr::CodeOutOfRange`] for bytes
    /// that no encoder writes.
    pub fn decode_into(self, bytes: &[u8], out: &mut [f32]) -> Result<usize, CodecErr> {
        let bytes = self.checked(bytes, out.len())?;
        if !self.two_level {
            return Ok(decode_blocks(Backend::best(), self.width, self.block, bytes, out)?);
        }
        let blocks = out.chunks_mut(self.block.get()).zip(bytes.chunks(self.block_bytes()));
        for (i, (out, bytes)) in blocks.enumerate() {
            two_level::decode(bytes, out).map_err(|e| e.shifted(i * self.block.get()))?;
        }
        Ok(bytes.len())
    }

    /// Decodes the values in `range` of a tensor of `count` values; reads only the blocks that contain them.
    ///
    /// ```
    /// use bitgrain_codec::{BitWidth, BlockFormat};
    /// let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    /// let format = BlockFormat::new(BitWidth::W8);
    /// let bytes = format.encode(&values)?;
    /// let mut three = [0.0; 3];
    /// format.decode_range(&bytes, 1000, 500..503, &mut three)?;
    /// assert_eq!(three, format.decode(&bytes, 1000)?[500..503]);
    /// # Ok::<(), bitgrain_codec::CodecErr>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`decode_into`](Self::decode_into) with indices relative to the tensor,
    /// [`CodecErr::InvalidRange`], or [`CodecErr::OutputTooSmall`].
    pub fn decode_range(
        self,
        bytes: &[u8],
        count: usize,
        range: Range<usize>,
        out: &mut [f32],
    ) -> Result<(), CodecErr> {
        let bytes = self.checked(bytes, count)?;
        if range.start > range.end || range.end > count {
            return Err(CodecErr::InvalidRange { start: range.start, end: range.end, count });
        }
        let required = range.len();
        let mut out = out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?;
        let block = self.block.get();
        let mut at = range.start;
        let mut whole = Vec::new();
        while !out.is_empty() {
            let first = at / block;
            let block_start = first * block;
            // Decodes all fully covered blocks in one call, and a partly covered block on its own.
            let covered = if at == block_start { out.len() / block * block } else { 0 };
            let tail = &bytes[first * self.block_bytes()..];
            let len = if covered > 0 {
                self.decode_into(tail, &mut out[..covered]).map_err(|e| e.shifted(block_start))?;
                covered
            } else {
                whole.resize(block.min(count - block_start), 0.0);
                self.decode_into(tail, &mut whole).map_err(|e| e.shifted(block_start))?;
                let wanted = &whole[at - block_start..];
                let len = wanted.len().min(out.len());
                out[..len].copy_from_slice(&wanted[..len]);
                len
            };
            at += len;
            out = &mut out[len..];
        }
        Ok(())
    }

    /// Returns the largest possible error of an encoded tensor, from its stored scales; see [`bound`](crate::bound()).
    ///
    /// # Errors
    /// Returns [`CodecErr::InputTooSmall`] or [`CodecErr::InvalidScale`].
    pub fn bound(self, bytes: &[u8], count: usize) -> Result<f32, CodecErr> {
        let bytes = self.checked(bytes, count)?;
        let mut largest = 0.0_f32;
        for (i, block) in bytes.chunks(self.block_bytes()).enumerate() {
            let scale = if self.two_level {
                two_level::scales(block).map(|[primary, secondary]| primary.max(secondary))
            } else {
                let scale = block.first_chunk().map(|le| f32::from_le_bytes(*le));
                scale.filter(|&scale| usable_scale(self.width, scale))
            };
            largest = largest.max(scale.ok_or(CodecErr::InvalidScale { index: i * self.block.get() })?);
        }
        Ok(bound_of_scale(self.width, largest))
    }

    /// Returns the bytes of `count` values, after checking the length.
    fn checked(self, bytes: &[u8], count: usize) -> Result<&[u8], CodecErr> {
        let required = self.encoded_len(count);
        bytes.get(..required).ok_or(CodecErr::InputTooSmall { required })
    }
}
