//! Fused kernels: convert values to packed codes and back without writing unpacked codes to memory. Spec:
//! `spec/blocks.md`.
//!
//! The loops over a run of blocks are written once, as macros, and expanded inside each backend so that the per-block
//! kernels inline into them.

use crate::backend::on;
use crate::{Backend, BitWidth, BlockLen, KernelError};

pub use crate::dot::dot_blocks;
pub use crate::scale::block_scale;
pub use crate::width::{SCALE_LEN, blocks_len};

/// Quantizes `values` with one scale and packs the codes. Returns the number of bytes written.
///
/// Codes are biased and bit-packed below 8 bits and plain `i8` at 8 bits, as in a block. Rounding and clamping are
/// those of [`quantize`](crate::codes::quantize).
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`].
pub fn quantize_pack(
    backend: Backend,
    width: BitWidth,
    values: &[f32],
    scale: f32,
    out: &mut [u8],
) -> Result<usize, KernelError> {
    let required = width.packed_len(values.len());
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, quantize_pack(width, values, scale, out));
    Ok(required)
}

/// Unpacks `out.len()` codes written by [`quantize_pack`] and multiplies them by `scale`. Returns the number of bytes
/// read.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`], or [`KernelError::CodeOutOfRange`] for the one invalid bit pattern.
pub fn unpack_dequantize(
    backend: Backend,
    width: BitWidth,
    bytes: &[u8],
    scale: f32,
    out: &mut [f32],
) -> Result<usize, KernelError> {
    let required = width.packed_len(out.len());
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    if on!(backend, unpack_dequantize(width, bytes, scale, out)) {
        return Ok(required);
    }
    match first_bad_code(width, bytes, out.len()) {
        Some((index, code)) => Err(KernelError::CodeOutOfRange { index, code }),
        None => unreachable!("a kernel rejected valid codes"),
    }
}

/// Encodes `values` as blocks of an f32 scale and packed codes; the last block may be shorter. Returns the number of
/// bytes written, [`blocks_len`].
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`], or [`KernelError::NonFinite`] for the first NaN or infinity; the blocks
/// before it are already written.
pub fn encode_blocks(
    backend: Backend,
    width: BitWidth,
    block: BlockLen,
    values: &[f32],
    out: &mut [u8],
) -> Result<usize, KernelError> {
    let required = blocks_len(width, block, values.len());
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, encode_blocks(width, block.get(), values, out))?;
    Ok(required)
}

/// Decodes `out.len()` finite values from blocks. Returns the number of bytes read, [`blocks_len`].
///
/// Large outputs bypass the caches, which is faster unless the caller reads them right away.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`], [`KernelError::InvalidScale`] or [`KernelError::CodeOutOfRange`].
pub fn decode_blocks(
    backend: Backend,
    width: BitWidth,
    block: BlockLen,
    bytes: &[u8],
    out: &mut [f32],
) -> Result<usize, KernelError> {
    let required = blocks_len(width, block, out.len());
    let bytes = bytes.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    if on!(backend, decode_blocks(width, block.get(), bytes, out)) {
        return Ok(required);
    }
    Err(first_bad_block(width, block, bytes, out.len()))
}

/// Returns the bias of the packed codes of a block: 0 at 8 bits, where codes are plain i8.
pub(crate) const fn bias_of(bits: u32) -> u8 {
    if bits == 8 { 0 } else { u8::MAX >> (9 - bits) }
}

/// Returns the invalid bit pattern: all bits set below 8 bits, where codes are biased; -128 at 8 bits.
pub(crate) const fn unused_pattern(bits: u32) -> u8 {
    if bits == 8 { 0x80 } else { u8::MAX >> (8 - bits) }
}

/// Returns whether a stored `scale` is non-negative and decodes every code to a finite value.
#[inline]
pub(crate) fn usable_scale(scale: f32, qmax: u8) -> bool {
    // A single unsigned comparison: the sign bit, infinities and NaN all sort above the largest finite value.
    (scale * f32::from(qmax)).to_bits() <= f32::MAX.to_bits()
}

/// Finds the first invalid block. Kernels only report that one exists, which keeps the index off the hot path.
#[cold]
pub(crate) fn first_bad_block(width: BitWidth, block: BlockLen, bytes: &[u8], count: usize) -> KernelError {
    let stride = SCALE_LEN + width.packed_len(block.get());
    for (i, bytes) in bytes.chunks(stride).enumerate() {
        let start = i * block.get();
        let (scale, codes) = bytes.split_at(SCALE_LEN);
        if !usable_scale(read_scale(scale), width.qmax()) {
            return KernelError::InvalidScale { index: start };
        }
        let len = block.get().min(count - start);
        if let Some((index, code)) = first_bad_code(width, codes, len) {
            return KernelError::CodeOutOfRange { index: start + index, code };
        }
    }
    unreachable!("a kernel rejected valid blocks")
}

/// Finds the first invalid code among `count` packed codes.
#[cold]
fn first_bad_code(width: BitWidth, bytes: &[u8], count: usize) -> Option<(usize, i32)> {
    let (bits, qmax) = (usize::from(width.bits()), i32::from(width.qmax()));
    let stored = |i: usize| {
        let (at, shift) = (i * bits / 8, i * bits % 8);
        let window = u16::from_le_bytes([bytes[at], bytes.get(at + 1).copied().unwrap_or(0)]);
        window >> shift & ((1 << bits) - 1)
    };
    let index = (0..count).find(|&i| stored(i) == u16::from(unused_pattern(width.bits().into())))?;
    // 8-bit codes are plain i8, all others are biased.
    Some((index, if width == BitWidth::W8 { -128 } else { qmax + 1 }))
}

/// Reads the scale at the start of a block.
#[inline]
pub(crate) fn read_scale(bytes: &[u8]) -> f32 {
    let mut le = [0; SCALE_LEN];
    le.copy_from_slice(&bytes[..SCALE_LEN]);
    f32::from_le_bytes(le)
}

/// Expands `$step` for every block of `$values`. Blocks of 64 values get their own expansion with a constant length,
/// which the compiler unrolls completely: 20 % faster in cache.
macro_rules! for_blocks {
    ($block:expr, $split:ident, $chunks:ident, $values:expr, |$one:ident| $step:block) => {{
        let mut rest = $values;
        if $block == 64 {
            let (full, tail) = rest.$split::<64>();
            for $one in full $step
            rest = tail;
        }
        for $one in rest.$chunks($block) $step
    }};
}

/// Encodes a run of blocks with the `max_abs_bits` and `quantize_pack_run` in scope at the expansion, which take a token if
/// one is given. The error is the index of the first non-finite value.
macro_rules! encode_walk {
    ($w:ident, $block:expr, $values:expr, $out:expr $(, $isa:ident)?) => {{
        let qmax: u8 = (1 << ($w - 1)) - 1;
        let mut rest: &mut [u8] = $out;
        for (i, block) in $values.chunks($block).enumerate() {
            let max_bits = max_abs_bits($($isa,)? block);
            if max_bits > f32::MAX.to_bits() {
                return Err(i * $block + block.iter().position(|v| !v.is_finite()).unwrap_or(0));
            }
            let scale = $crate::scale::scale_of(f32::from_bits(max_bits), qmax);
            let (head, codes) = rest.split_at_mut($crate::width::SCALE_LEN);
            head.copy_from_slice(&scale.to_le_bytes());
            // The kernel may write zeros after its codes; the next block overwrites them.
            quantize_pack_run::<$w, false>($($isa,)? block, scale, codes);
            rest = &mut codes[(block.len() * $w as usize).div_ceil(8)..];
        }
        Ok(())
    }};
}

/// Decodes a run of blocks with the `unpack_dequantize_run` in scope at the expansion; false if a block is invalid.
macro_rules! decode_walk {
    ($w:ident, $block:expr, $bytes:expr, $out:expr $(, $isa:ident)?) => {{
        let qmax: u8 = (1 << ($w - 1)) - 1;
        let mut rest: &[u8] = $bytes;
        let mut good = true;
        $crate::blocks::for_blocks!($block, as_chunks_mut, chunks_mut, $out, |block| {
            let scale = $crate::blocks::read_scale(rest);
            good &= $crate::blocks::usable_scale(scale, qmax);
            let codes = &rest[$crate::width::SCALE_LEN..];
            good &= unpack_dequantize_run::<$w>($($isa,)? codes, scale, block);
            rest = &codes[(block.len() * $w as usize).div_ceil(8)..];
        });
        good
    }};
}

pub(crate) use {decode_walk, encode_walk, for_blocks};
