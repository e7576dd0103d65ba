//! Q6_K: 128 bytes of four bits, 64 bytes of two more, sixteen i8 scales, their f16 scale.

use super::{half_at, part};

/// Where the upper bits, the scales and the scale of the scales begin.
const UPPER: usize = 128;
const SCALES: usize = 192;
const SCALE: usize = 208;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 210], out: &mut [f32; 256]) {
    let scale = half_at(bytes, SCALE);
    for (i, row) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        // Rows of 16 weights: two to a quarter, which has its own shifts, and four quarters to a half.
        let (half, quarter, side) = (i / 8, i % 8 / 2, i % 2 * 16);
        let lower: &[u8; 16] = part(bytes, 64 * half + quarter % 2 * 32 + side);
        let upper: &[u8; 16] = part(bytes, UPPER + 32 * half + side);
        let (low_shift, high_shift) = (quarter / 2 * 4, 2 * quarter);
        let scale = scale * f32::from(bytes[SCALES + i].cast_signed());
        for m in 0..16 {
            let code = lower[m] >> low_shift & 15 | (upper[m] >> high_shift & 3) << 4;
            row[m] = scale * f32::from(code.cast_signed() - 32);
        }
    }
}
