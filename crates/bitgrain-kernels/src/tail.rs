//! Remainders of the vector loops, out of line so that the loops stay small enough to be inlined where the block length
//! is constant.

use crate::scalar;

#[cold]
#[inline(never)]
pub(crate) fn quantize_pack<const W: u32>(values: &[f32], scale: f32, out: &mut [u8]) {
    scalar::quantize_pack_run::<W, true>(values, scale, out);
}

#[cold]
#[inline(never)]
pub(crate) fn unpack_dequantize<const W: u32>(bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    scalar::unpack_dequantize_run::<W>(bytes, scale, out)
}

#[cold]
#[inline(never)]
pub(crate) fn lane_sums<const W: u32>(values: &[f32], bytes: &[u8], sums: &mut [f32; 16]) -> bool {
    scalar::lane_sums::<W>(values, bytes, sums)
}
