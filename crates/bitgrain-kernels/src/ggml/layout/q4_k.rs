//! Q4_K: two f16 scales, eight 6-bit scales and minima in 12 bytes, 128 bytes of 4-bit codes.

use super::rows::Rows;
use super::{half_at, part};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 144], out: &mut [f32; 256]) {
    unpack(bytes).write(out);
}

#[inline(always)]
pub(crate) fn unpack(bytes: &[u8; 144]) -> Rows {
    let (scales, mins) = scales_and_mins(bytes);
    Rows::new(scales, mins, |i, row| {
        let pairs: &[u8; 32] = part(bytes, 16 + i / 2 * 32);
        for (code, byte) in row.iter_mut().zip(pairs) {
            *code = (byte >> (i % 2 * 4) & 15).cast_signed();
        }
    })
}

/// Returns scales and minima, each for two rows of 16, of a block that starts with the scales of both.
#[inline(always)]
pub(super) fn scales_and_mins<const B: usize>(bytes: &[u8; B]) -> ([f32; 16], [f32; 16]) {
    let (scale, min) = (half_at(bytes, 0), half_at(bytes, 2));
    let codes: [_; 8] = core::array::from_fn(|i| scale_and_min(part(bytes, 4), i));
    let (scales, mins) = (codes.map(|both| scale * f32::from(both.0)), codes.map(|both| min * f32::from(both.1)));
    (core::array::from_fn(|i| scales[i / 2]), core::array::from_fn(|i| mins[i / 2]))
}

/// Returns the codes of scale and minimum `i` of 8. The first four are the low six bits of a byte; the last four have
/// their low four bits in the last four bytes and their upper two bits on top of the first eight.
#[inline(always)]
pub(crate) fn scale_and_min(bytes: &[u8; 12], i: usize) -> (u8, u8) {
    let (scale, min) = (bytes[i % 4], bytes[4 + i % 4]);
    if i < 4 {
        return (scale & 63, min & 63);
    }
    let low = bytes[4 + i];
    (low & 15 | scale >> 6 << 4, low >> 4 | min >> 6 << 4)
}
