//! Q2_K: 16 bytes of a 4-bit scale and a 4-bit minimum, 64 bytes of 2-bit codes, the f16 scales of both.

use super::{half_at, part};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 84], out: &mut [f32; 256]) {
    let (scale, min) = (half_at(bytes, 80), half_at(bytes, 82));
    for (i, row) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        // Two rows of 16 weights take the same two bits of 32 bytes; four such pairs, half of the block, share them.
        let codes: &[u8; 16] = part(bytes, 16 + i / 8 * 32 + i % 2 * 16);
        let shift = i % 8 / 2 * 2;
        let (scale, min) = (scale * f32::from(bytes[i] & 15), min * f32::from(bytes[i] >> 4));
        for (out, code) in row.iter_mut().zip(codes) {
            *out = scale * f32::from(code >> shift & 3) - min;
        }
    }
}
