//! Q2_K: 16 bytes of a 4-bit scale and a 4-bit minimum each, 64 bytes of 2-bit codes, the f16 scales of both.

use super::rows::Rows;
use super::{half_at, part};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 84], out: &mut [f32; 256]) {
    unpack(bytes).write(out);
}

#[inline(always)]
pub(crate) fn unpack(bytes: &[u8; 84]) -> Rows {
    let (scale, min) = (half_at(bytes, 80), half_at(bytes, 82));
    let both: &[u8; 16] = part(bytes, 0);
    Rows::new(both.map(|byte| scale * f32::from(byte & 15)), both.map(|byte| min * f32::from(byte >> 4)), |i, row| {
        let pairs: &[u8; 32] = part(bytes, 16 + i / 4 * 32);
        for (code, byte) in row.iter_mut().zip(pairs) {
            *code = (byte >> (i % 4 * 2) & 3).cast_signed();
        }
    })
}
