//! Q5_1: an f16 scale and an f16 minimum, 32 fifth bits, then byte `i` with four bits of weights `i` and `i + 16`.

use super::q5_0::{codes, fifths, put_codes};
use super::{extremes, half_at, inverse, put_half, rounding};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 24], out: &mut [f32; 32]) {
    let (scale, min) = (half_at(bytes, 0), half_at(bytes, 2));
    let codes = codes(fifths(bytes, 4), bytes, 8);
    for i in 0..32 {
        out[i] = scale * f32::from(codes[i]) + min;
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 32], out: &mut [u8; 24]) {
    let (min, max) = extremes::range(values);
    let scale = (max - min) / 31.0;
    let inverse = inverse(scale);
    put_half(out, 0, scale);
    put_half(out, 2, min);
    // The reference does not clamp these codes; they never exceed 31.
    put_codes(out, 4, values.map(|x| rounding::truncated((x - min) * inverse + 0.5)));
}
