//! Q5_0: an f16 scale, 32 fifth bits, then byte `i` with four bits of weights `i` and `i + 16`. Code 16 stands for
//! zero.

use super::{extremes, half_at, inverse, put_half, rounding};

#[inline(always)]
pub(crate) fn decode(bytes: &[u8; 22], out: &mut [f32; 32]) {
    let scale = half_at(bytes, 0);
    let codes = codes(fifths(bytes, 2), bytes, 6);
    for i in 0..32 {
        out[i] = scale * f32::from(codes[i].cast_signed() - 16);
    }
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; 32], out: &mut [u8; 22]) {
    let scale = extremes::largest(values) / -16.0;
    let inverse = inverse(scale);
    put_half(out, 0, scale);
    put_codes(out, 2, values.map(|x| rounding::truncated(x * inverse + 16.5).min(31)));
}

/// Reads the 32 fifth bits at byte `at` of a block.
#[inline(always)]
pub(crate) fn fifths<const B: usize>(bytes: &[u8; B], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Combines 5-bit codes from their fifth bits and the nibbles at byte `at` of a block.
#[inline(always)]
pub(crate) fn codes<const B: usize>(fifths: u32, bytes: &[u8; B], at: usize) -> [u8; 32] {
    let mut codes = [0; 32];
    let (low, high) = codes.split_at_mut(16);
    for i in 0..16 {
        let fifth = |bit: usize| u8::from(fifths & 1 << bit != 0) << 4;
        low[i] = bytes[at + i] & 15 | fifth(i);
        high[i] = bytes[at + i] >> 4 | fifth(16 + i);
    }
    codes
}

/// Writes 32 fifth bits, followed by 16 bytes of nibbles.
#[inline(always)]
pub(super) fn put_codes<const B: usize>(out: &mut [u8; B], at: usize, codes: [u8; 32]) {
    let mut fifths = 0;
    for (i, code) in codes.iter().enumerate() {
        fifths |= u32::from(code >> 4) << i;
    }
    let (head, pairs) = out[at..].split_at_mut(4);
    head.copy_from_slice(&fifths.to_le_bytes());
    for i in 0..16 {
        pairs[i] = codes[i] & 15 | codes[16 + i] << 4;
    }
}
