//! TQ2_0: 256 ternary weights with an offset of 1, two bits each, then an f16 scale.

use super::{extremes, half_at, inverse, put_half, rounding};

const SCALE: usize = 64;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 66], out: &mut [f32; 256]) {
    let scale = half_at(bytes, SCALE);
    for (i, row) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (at, shift) = (i / 4 * 32, i % 4 * 2);
        for m in 0..32 {
            row[m] = scale * f32::from((bytes[at + m] >> shift & 3).cast_signed() - 1);
        }
    }
}

/// Returns the codes with their offset.
pub(crate) fn digits(bytes: &[u8; 66], out: &mut [u8; 256]) {
    for (i, row) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (at, shift) = (i / 4 * 32, i % 4 * 2);
        row.iter_mut().zip(&bytes[at..]).for_each(|(out, byte)| *out = byte >> shift & 3);
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 256], out: &mut [u8; 66]) {
    let scale = extremes::magnitude(values);
    let inverse = inverse(scale);
    pack(&values.map(|x| rounding::nearest(x * inverse)), scale, out);
}

/// Writes codes of -1 to 1 and their scale.
#[inline(always)]
pub(crate) fn pack(codes: &[i8; 256], scale: f32, out: &mut [u8; 66]) {
    put_half(out, SCALE, scale);
    for (half, codes) in codes.as_chunks::<128>().0.iter().enumerate() {
        for m in 0..32 {
            let code = |n: usize| (codes[32 * n + m] + 1).cast_unsigned();
            out[32 * half + m] = code(0) | code(1) << 2 | code(2) << 4 | code(3) << 6;
        }
    }
}
