//! Q4_0: an f16 scale, then byte `i` with the codes of weights `i` and `i + 16`. Code 8 stands for zero.

use super::{extremes, half_at, inverse, put_half, rounding};
use crate::ggml::BlockQ4_0;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; BlockQ4_0::BYTES], out: &mut [f32; 32]) {
    let scale = half_at(bytes, 0);
    let (low, high) = out.split_at_mut(16);
    for i in 0..16 {
        let pair = bytes[2 + i];
        low[i] = scale * f32::from((pair & 15).cast_signed() - 8);
        high[i] = scale * f32::from((pair >> 4).cast_signed() - 8);
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 32], out: &mut [u8; BlockQ4_0::BYTES]) {
    let scale = extremes::largest(values) / -8.0;
    let inverse = inverse(scale);
    put_half(out, 0, scale);
    for i in 0..16 {
        let code = |x: f32| rounding::truncated(x * inverse + 8.5).min(15);
        out[2 + i] = code(values[i]) | code(values[16 + i]) << 4;
    }
}
