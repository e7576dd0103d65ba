//! Q5_K: two f16 scales, eight 6-bit scales and minima in 12 bytes, 32 bytes of fifth bits, 128 bytes of the lower four
//! bits.

use super::part;
use super::q4_k::scales_and_mins;
use super::rows::Rows;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 176], out: &mut [f32; 256]) {
    unpack(bytes).write(out);
}

#[inline(always)]
pub(crate) fn unpack(bytes: &[u8; 176]) -> Rows {
    let (scales, mins) = scales_and_mins(bytes);
    let fifths: &[u8; 32] = part(bytes, 16);
    Rows::new(scales, mins, |i, row| {
        let pairs: &[u8; 32] = part(bytes, 48 + i / 2 * 32);
        for m in 0..32 {
            let code = pairs[m] >> (i % 2 * 4) & 15 | (fifths[m] >> i & 1) << 4;
            row[m] = code.cast_signed();
        }
    })
}
