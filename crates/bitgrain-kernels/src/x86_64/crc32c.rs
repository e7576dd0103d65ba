//! CRC-32C with the `crc32` instruction, which accepts eight bytes per cycle but has a latency of three cycles: three
//! segments are processed at once and combined with a carry-less product. Used by both vector backends.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use crate::crc32c::POLYNOMIAL;

/// Segment lengths: for buffers of megabytes, of kilobytes, and for the remainder of either.
const LONG: usize = 4096;
const MIDDLE: usize = 336;
const SHORT: usize = 40;

/// Updates the remainder `crc` with `bytes`.
#[avx2]
pub(crate) fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let (crc, words) = stretches::<LONG>(crc, words);
    let (crc, words) = stretches::<MIDDLE>(crc, words);
    let (crc, words) = stretches::<SHORT>(crc, words);
    let crc = words.iter().fold(crc, |crc, word| step(crc, word));
    rest.iter().fold(crc, |crc, &byte| _mm_crc32_u8(crc, byte))
}

/// Processes three segments of `LEN` bytes at once while enough bytes are left. Returns the remaining words.
#[inline]
#[avx2]
fn stretches<const LEN: usize>(mut crc: u32, mut words: &[[u8; 8]]) -> (u32, &[[u8; 8]]) {
    let count = LEN / 8;
    while words.len() >= 3 * count {
        let (a, rest) = words.split_at(count);
        let (b, rest) = rest.split_at(count);
        let (c, rest) = rest.split_at(count);
        // The second and third segment start at 0; their remainders are combined by linearity.
        let (mut first, mut second, mut third) = (crc, 0, 0);
        for ((a, b), c) in a.iter().zip(b).zip(c) {
            first = step(first, a);
            second = step(second, b);
            third = step(third, c);
        }
        // The first segment is followed by two segments, the second by one: multiply by x to that many bits.
        let far = product(first, const { power(16 * LEN - 33) });
        let near = product(second, const { power(8 * LEN - 33) });
        crc = low(_mm_crc32_u64(0, far ^ near)) ^ third;
        words = rest;
    }
    (crc, words)
}

#[inline]
#[avx2]
fn step(crc: u32, word: &[u8; 8]) -> u32 {
    low(_mm_crc32_u64(u64::from(crc), u64::from_le_bytes(*word)))
}

/// Drops the upper half, which is always zero.
#[expect(clippy::cast_possible_truncation, reason = "the instruction returns 32 bits in a 64-bit register")]
const fn low(sum: u64) -> u32 {
    sum as u32
}

/// Multiplies two polynomials. Both have their lowest power in the top bit, which shifts the product by one bit, and
/// the `crc32` that reduces it shifts by 32 more: the exponents above are 33 lower to compensate.
#[inline]
#[avx2]
fn product(a: u32, b: u32) -> u64 {
    let [a, b] = [a, b].map(|x| _mm_cvtsi64_si128(i64::from(x)));
    _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(a, b)).cast_unsigned()
}

/// Returns the remainder of x to this power.
const fn power(exponent: usize) -> u32 {
    let (mut remainder, mut i) = (1 << 31, 0);
    while i < exponent {
        remainder = (remainder >> 1) ^ (POLYNOMIAL * (remainder & 1));
        i += 1;
    }
    remainder
}
