//! Q5_K: two f16 scales, eight 6-bit scales and minima in 12 bytes, 32 bytes of fifth bits, 128 bytes of four bits.

use super::half_at;
use super::q4_k::scale_and_min;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 176], out: &mut [f32; 256]) {
    let (scale, min) = (half_at(bytes, 0), half_at(bytes, 2));
    for (i, row) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale_code, min_code) = scale_and_min(bytes, i);
        let (scale, min) = (scale * f32::from(scale_code), min * f32::from(min_code));
        let (at, shift) = (48 + i / 2 * 32, i % 2 * 4);
        for m in 0..32 {
            let fifth = bytes[16 + m] >> i & 1;
            row[m] = scale * f32::from(bytes[at + m] >> shift & 15 | fifth << 4) - min;
        }
    }
}
