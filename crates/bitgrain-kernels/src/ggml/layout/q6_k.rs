//! Q6_K: 128 bytes of the lower four bits, 64 bytes of the upper two, sixteen i8 scales, their f16 scale.

use super::rows::Rows;
use super::{half_at, part};

/// Offsets of the upper bits, the scales and the scale of the scales.
const UPPER: usize = 128;
const SCALES: usize = 192;
const SCALE: usize = 208;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 210], out: &mut [f32; 256]) {
    unpack(bytes).write(out);
}

#[inline(always)]
pub(crate) fn unpack(bytes: &[u8; 210]) -> Rows {
    let scale = half_at(bytes, SCALE);
    let scales: &[u8; 16] = part(bytes, SCALES);
    Rows::new(scales.map(|byte| scale * f32::from(byte.cast_signed())), [0.0; 16], |i, row| {
        // Each half has four rows of 32: the first two are the low nibbles of 64 bytes, the last two the high nibbles.
        let (half, quarter) = (i / 4, i % 4);
        let lower: &[u8; 32] = part(bytes, 64 * half + quarter % 2 * 32);
        let upper: &[u8; 32] = part(bytes, UPPER + 32 * half);
        for m in 0..32 {
            let stored = lower[m] >> (quarter / 2 * 4) & 15 | (upper[m] >> (2 * quarter) & 3) << 4;
            row[m] = stored.cast_signed() - 32;
        }
    })
}
