//! Q5_K: two f16 scales, eight 6-bit scales and minima in 12 bytes, 32 bytes of fifth bits, 128 bytes of four bits.

use super::q4_k::scale_and_min;
use super::{half_at, part};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 176], out: &mut [f32; 256]) {
    let (scale, min) = (half_at(bytes, 0), half_at(bytes, 2));
    let fifths: &[u8; 32] = part(bytes, 16);
    for (i, row) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale_code, min_code) = scale_and_min(bytes, i);
        let (scale, min) = (scale * f32::from(scale_code), min * f32::from(min_code));
        let codes: &[u8; 32] = part(bytes, 48 + i / 2 * 32);
        let shift = i % 2 * 4;
        for m in 0..32 {
            row[m] = scale * f32::from(codes[m] >> shift & 15 | (fifths[m] >> i & 1) << 4) - min;
        }
    }
}
