//! TQ1_0: 256 digits of base three, five to a byte (four in the last four bytes), then an f16 scale.
//!
//! A byte is the fraction `digits / 243` in units of 1/256, rounded up: multiplied by three, the first digit is what
//! carries out of it.

use super::{extremes, half_at, inverse, put_half, rounding};

/// The bytes come in three runs: first byte, bytes, first weight, digits in a byte. Digit `n` of byte `m` of a run is
/// weight `first + n * bytes + m`.
const RUNS: [(usize, usize, usize, usize); 3] = [(0, 32, 0, 5), (32, 16, 160, 5), (48, 4, 240, 4)];

const SCALE: usize = 52;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 54], out: &mut [f32; 256]) {
    let scale = half_at(bytes, SCALE);
    let mut weights = out.as_mut_slice();
    for (at, len, _, digits) in RUNS {
        let mut power = 1_u8;
        for _ in 0..digits {
            let (row, rest) = weights.split_at_mut(len);
            for (out, &byte) in row.iter_mut().zip(&bytes[at..at + len]) {
                let digit = ((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as u8;
                *out = scale * f32::from(digit.cast_signed() - 1);
            }
            weights = rest;
            power = power.wrapping_mul(3);
        }
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 256], out: &mut [u8; 54]) {
    let scale = extremes::forgetful_magnitude(values);
    let inverse = inverse(scale);
    pack(&values.map(|x| rounding::nearest(x * inverse)), scale, out);
}

/// Writes codes from -1 to 1 and their scale.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 255")]
pub(crate) fn pack(codes: &[i8; 256], scale: f32, out: &mut [u8; 54]) {
    put_half(out, SCALE, scale);
    for (at, len, first, digits) in RUNS {
        for m in 0..len {
            // A run of four digits leaves the last one empty.
            let number = (0..5).fold(0_u16, |number, n| {
                let digit = if n < digits { codes[first + n * len + m] + 1 } else { 0 };
                number * 3 + u16::from(digit.cast_unsigned())
            });
            out[at + m] = (number * 256).div_ceil(243) as u8;
        }
    }
}
