//! Q3_K: 32 bytes of third bits, 64 bytes of two bits, sixteen 6-bit scales in 12 bytes, their f16 scale.

use super::{half_at, part};

/// Where the two bits, the scales and the scale of the scales begin.
const PAIRS: usize = 32;
const SCALES: usize = 96;
const SCALE: usize = 108;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 110], out: &mut [f32; 256]) {
    let scale = half_at(bytes, SCALE);
    for (i, row) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let (side, shift, bit) = (i % 2 * 16, i % 8 / 2 * 2, i / 2);
        let (pairs, thirds): (&[u8; 16], &[u8; 16]) = (part(bytes, PAIRS + i / 8 * 32 + side), part(bytes, side));
        let scale = scale * f32::from(scale_code(bytes, i));
        for m in 0..16 {
            // Codes run from -4 to 3, and are stored four too high.
            let code = pairs[m] >> shift & 3 | (thirds[m] >> bit & 1) << 2;
            row[m] = scale * f32::from(code.cast_signed() - 4);
        }
    }
}

/// Scale `i` of 16, from -32 to 31: four bits in the first eight bytes, two in the last four.
#[inline(always)]
fn scale_code(bytes: &[u8; 110], i: usize) -> i8 {
    let low = bytes[SCALES + i % 8] >> (i / 8 * 4) & 15;
    let high = bytes[SCALES + 8 + i % 4] >> (i / 4 * 2) & 3;
    (low | high << 4).cast_signed() - 32
}
