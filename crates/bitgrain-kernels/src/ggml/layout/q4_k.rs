//! Q4_K: two f16 scales, eight 6-bit scales and minima in 12 bytes, 128 bytes of 4-bit codes.

use super::{half_at, part};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 144], out: &mut [f32; 256]) {
    let (scale, min) = (half_at(bytes, 0), half_at(bytes, 2));
    for (i, row) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale_code, min_code) = scale_and_min(bytes, i);
        let (scale, min) = (scale * f32::from(scale_code), min * f32::from(min_code));
        let codes: &[u8; 32] = part(bytes, 16 + i / 2 * 32);
        let shift = i % 2 * 4;
        for (out, code) in row.iter_mut().zip(codes) {
            *out = scale * f32::from(code >> shift & 15) - min;
        }
    }
}

/// Scale and minimum of sub-block `i` of 8. The first four are the low six bits of a byte; the last four have their
/// low four bits in the last four bytes and their upper two on top of the first eight.
#[inline(always)]
pub(super) fn scale_and_min<const B: usize>(bytes: &[u8; B], i: usize) -> (u8, u8) {
    const AT: usize = 4;
    let (scale, min) = (bytes[AT + i % 4], bytes[AT + 4 + i % 4]);
    if i < 4 {
        return (scale & 63, min & 63);
    }
    let low = bytes[AT + 4 + i];
    (low & 15 | scale >> 6 << 4, low >> 4 | min >> 6 << 4)
}
