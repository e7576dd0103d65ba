//! Q3_K: 32 bytes of third bits, 64 bytes of the lower two bits, sixteen 6-bit scales in 12 bytes, their f16 scale.

use super::rows::Rows;
use super::{half_at, part};

/// Offsets of the lower two bits, the scales and the scale of the scales.
const PAIRS: usize = 32;
const SCALES: usize = 96;
const SCALE: usize = 108;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 110], out: &mut [f32; 256]) {
    unpack(bytes).write(out);
}

#[inline(always)]
pub(crate) fn unpack(bytes: &[u8; 110]) -> Rows {
    let scale = half_at(bytes, SCALE);
    let scales = core::array::from_fn(|i| scale * f32::from(scale_code(bytes, i)));
    let thirds: &[u8; 32] = part(bytes, 0);
    Rows::new(scales, [0.0; 16], |i, row| {
        let pairs: &[u8; 32] = part(bytes, PAIRS + i / 4 * 32);
        for m in 0..32 {
            // Codes are -4 to 3, stored with an offset of 4.
            let stored = pairs[m] >> (i % 4 * 2) & 3 | (thirds[m] >> i & 1) << 2;
            row[m] = stored.cast_signed() - 4;
        }
    })
}

/// Returns scale `i` of 16, -32 to 31: four bits in the first eight bytes, two in the last four.
#[inline(always)]
pub(crate) fn scale_code(bytes: &[u8; 110], i: usize) -> i8 {
    let low = bytes[SCALES + i % 8] >> (i / 8 * 4) & 15;
    let high = bytes[SCALES + 8 + i % 4] >> (i / 4 * 2) & 3;
    (low | high << 4).cast_signed() - 32
}
