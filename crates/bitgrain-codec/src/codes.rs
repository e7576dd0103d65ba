//! Codes of blocks whose scales are stored separately, for frames that share scales. Spec:
//! `spec/blocks.md#separate-scales`.

use bitgrain_kernels::blocks::{quantize_pack, unpack_dequantize};
use bitgrain_kernels::{Backend, BitWidth, BlockLen, max_abs};

use crate::CodecErr;

/// Computes the largest magnitude of every block of `values`. Returns the number of blocks.
///
/// ```
/// use bitgrain_codec::{BlockLen, block_maxima};
/// let mut maxima = [0.0; 2];
/// block_maxima(BlockLen::new(8)?, &[0.0, -3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], &mut maxima)?;
/// assert_eq!(maxima, [3.0, 1.0]);
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
///
/// # Errors
/// Returns [`CodecErr::OutputTooSmall`], or [`CodecErr::NonFinite`] for the first NaN or infinity.
pub fn block_maxima(block: BlockLen, values: &[f32], out: &mut [f32]) -> Result<usize, CodecErr> {
    let required = values.len().div_ceil(block.get());
    let out = out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?;
    let backend = Backend::best();
    for (i, (values, out)) in values.chunks(block.get()).zip(out).enumerate() {
        // The kernel ignores NaN, so NaN needs a separate check.
        if !values.iter().fold(true, |finite, value| finite & value.is_finite()) {
            let index = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
            return Err(CodecErr::NonFinite { index }.shifted(i * block.get()));
        }
        *out = max_abs(backend, values);
    }
    Ok(required)
}

/// Quantizes every block of `values` with its scale from `scales` and packs the codes: the bytes of blocks without
/// their scales. Returns the number of bytes written, [`packed_len`](BitWidth::packed_len).
///
/// Values beyond `qmax` steps are clamped: use scales that [`scale_fits`](crate::scale_fits) accepts.
///
/// # Errors
/// Returns [`CodecErr::OutputTooSmall`], or [`CodecErr::InputTooSmall`] if there are fewer scales than blocks.
pub fn encode_codes(
    width: BitWidth,
    block: BlockLen,
    scales: &[f32],
    values: &[f32],
    out: &mut [u8],
) -> Result<usize, CodecErr> {
    let required = width.packed_len(values.len());
    let mut rest = out.get_mut(..required).ok_or(CodecErr::OutputTooSmall { required })?;
    let backend = Backend::best();
    for (values, &scale) in values.chunks(block.get()).zip(scales_of(block, scales, values.len())?) {
        let written = quantize_pack(backend, width, values, scale, rest)?;
        rest = &mut rest[written..];
    }
    Ok(required)
}

/// Decodes `out.len()` values from codes and the scales of their blocks. Returns the number of bytes read.
///
/// # Errors
/// Returns [`CodecErr::InputTooSmall`] for too few bytes or scales, or [`CodecErr::CodeOutOfRange`] for an invalid
/// code.
pub fn decode_codes(
    width: BitWidth,
    block: BlockLen,
    scales: &[f32],
    bytes: &[u8],
    out: &mut [f32],
) -> Result<usize, CodecErr> {
    let required = width.packed_len(out.len());
    let mut rest = bytes.get(..required).ok_or(CodecErr::InputTooSmall { required })?;
    let backend = Backend::best();
    let scales = scales_of(block, scales, out.len())?;
    for (i, (out, &scale)) in out.chunks_mut(block.get()).zip(scales).enumerate() {
        let read = unpack_dequantize(backend, width, rest, scale, out)
            .map_err(|error| CodecErr::from(error).shifted(i * block.get()))?;
        rest = &rest[read..];
    }
    Ok(required)
}

/// Returns the scales that `count` values need, after checking that there are enough.
fn scales_of(block: BlockLen, scales: &[f32], count: usize) -> Result<&[f32], CodecErr> {
    let required = count.div_ceil(block.get());
    scales.get(..required).ok_or(CodecErr::InputTooSmall { required })
}
