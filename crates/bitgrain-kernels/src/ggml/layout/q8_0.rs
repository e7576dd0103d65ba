//! Q8_0: an f16 scale, then 32 two's complement codes.

use super::{extremes, half_at, inverse, put_half, rounding};
use crate::ggml::BlockQ8_0;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; BlockQ8_0::BYTES], out: &mut [f32; 32]) {
    let scale = half_at(bytes, 0);
    for i in 0..32 {
        out[i] = f32::from(bytes[2 + i].cast_signed()) * scale;
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 32], out: &mut [u8; BlockQ8_0::BYTES]) {
    let scale = extremes::magnitude(values) / 127.0;
    let inverse = inverse(scale);
    put_half(out, 0, scale);
    for i in 0..32 {
        out[2 + i] = rounding::nearest(values[i] * inverse).cast_unsigned();
    }
}
