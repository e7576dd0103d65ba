//! TQ1_0: 256 base-3 digits, five per byte (four in the last four bytes), then an f16 scale.
//!
//! A byte is the fraction `digits / 243` in units of 1/256, rounded up: multiplying by three carries the first digit
//! out of the byte.

use super::{extremes, half_at, inverse, put_half, rounding};

/// The three runs of bytes: first byte, number of bytes, digits per byte. Digit `n` of byte `m` of a run is weight
/// `n * bytes + m` of the remaining weights.
const RUNS: [(usize, usize, usize); 3] = [(0, 32, 5), (32, 16, 5), (48, 4, 4)];

const SCALE: usize = 52;

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 54], out: &mut [f32; 256]) {
    let scale = half_at(bytes, SCALE);
    each_digit(bytes, out, |digit| scale * f32::from(digit.cast_signed() - 1));
}

/// Returns the codes with their offset.
pub(crate) fn digits(bytes: &[u8; 54], out: &mut [u8; 256]) {
    each_digit(bytes, out, |digit| digit);
}

#[inline(always)]
fn each_digit<T>(bytes: &[u8; 54], out: &mut [T; 256], value: impl Fn(u8) -> T) {
    let mut weights = out.as_mut_slice();
    for (at, len, digits) in RUNS {
        let mut power = 1_u8;
        for _ in 0..digits {
            let (row, rest) = weights.split_at_mut(len);
            for (out, &byte) in row.iter_mut().zip(&bytes[at..at + len]) {
                *out = value(((u16::from(byte.wrapping_mul(power)) * 3) >> 8) as u8);
            }
            weights = rest;
            power = power.wrapping_mul(3);
        }
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 256], out: &mut [u8; 54]) {
    let scale = extremes::magnitude(values);
    let inverse = inverse(scale);
    pack(&values.map(|x| rounding::nearest(x * inverse)), scale, out);
}

/// Writes codes of -1 to 1 and their scale.
#[inline(always)]
pub(crate) fn pack(codes: &[i8; 256], scale: f32, out: &mut [u8; 54]) {
    let (first, rest) = codes.split_at(160);
    let (second, third) = rest.split_at(80);
    if let [a, b, c, d, e] = first.as_chunks::<32>().0 {
        put_digits([a, b, c, d, e], &mut out[..32]);
    }
    if let [a, b, c, d, e] = second.as_chunks::<16>().0 {
        put_digits([a, b, c, d, e], &mut out[32..48]);
    }
    if let [a, b, c, d] = third.as_chunks::<4>().0 {
        // Code -1 is digit 0, which pads the unused position.
        put_digits([a, b, c, d, &[-1; 4]], &mut out[48..52]);
    }
    put_half(out, SCALE, scale);
}

#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "at most 255")]
fn put_digits<const N: usize>(rows: [&[i8; N]; 5], out: &mut [u8]) {
    for (m, out) in out.iter_mut().enumerate() {
        let number = rows.iter().fold(0, |number, row| number * 3 + u16::from((row[m] + 1).cast_unsigned()));
        *out = (number * 256).div_ceil(243) as u8;
    }
}
