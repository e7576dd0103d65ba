//! Q4_1: an f16 scale and an f16 minimum, then byte `i` with the codes of weights `i` and `i + 16`.

use super::{extremes, half_at, inverse, put_half, rounding};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 20], out: &mut [f32; 32]) {
    let (scale, min) = (half_at(bytes, 0), half_at(bytes, 2));
    let (low, high) = out.split_at_mut(16);
    for i in 0..16 {
        let pair = bytes[4 + i];
        low[i] = scale * f32::from(pair & 15) + min;
        high[i] = scale * f32::from(pair >> 4) + min;
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 32], out: &mut [u8; 20]) {
    let (min, max) = extremes::range(values);
    let scale = (max - min) / 15.0;
    let inverse = inverse(scale);
    put_half(out, 0, scale);
    put_half(out, 2, min);
    for i in 0..16 {
        let code = |x: f32| rounding::truncated((x - min) * inverse + 0.5).min(15);
        out[4 + i] = code(values[i]) | code(values[16 + i]) << 4;
    }
}
