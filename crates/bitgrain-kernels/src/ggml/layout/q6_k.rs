//! Q6_K: 128 bytes of four bits, 64 bytes of two more, sixteen i8 scales, their f16 scale.

use super::half_at;

/// Where the upper bits, the scales and the scale of the scales begin.
const UPPER: usize = 128;
const SCALES: usize = 192;
const SCALE: usize = 208;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 210], out: &mut [f32; 256]) {
    let scale = half_at(bytes, SCALE);
    for (i, row) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (half, quarter) = (i / 4, i % 4);
        let (low_at, low_shift) = (64 * half + quarter % 2 * 32, quarter / 2 * 4);
        let (high_at, high_shift) = (UPPER + 32 * half, 2 * quarter);
        for (side, row) in row.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let scale = scale * f32::from(bytes[SCALES + 2 * i + side].cast_signed());
            for m in 0..16 {
                let low = bytes[low_at + 16 * side + m] >> low_shift & 15;
                let high = bytes[high_at + 16 * side + m] >> high_shift & 3;
                row[m] = scale * f32::from((low | high << 4).cast_signed() - 32);
            }
        }
    }
}
