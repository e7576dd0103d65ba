//! Bit packing, 64 bytes or 16 words at a time. Each 128-bit lane has its packed bytes at the low end and is stored
//! completely: the next store overwrites the excess.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_bytes, load_words, sixteen_mut, store_bytes, store_half};
use crate::backend::for_width;
use crate::{UnsignedWidth, scalar};

/// Maximum number of bytes touched by the stores of 64 packed codes: four stores of 16, each `2 * W` after the previous one.
pub(super) const REACH: usize = 64;

#[avx2]
pub(crate) fn pack_bytes(bits: u8, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, pack_bytes_of(bias, max, codes, out))
}

#[avx2]
fn pack_bytes_of<const W: u32>(bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    let (chunks, mut rest) = codes.as_chunks::<64>();
    let biases = _mm256_set1_epi8(bias.cast_signed());
    let mut largest = _mm256_setzero_si256();
    let mut at = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        // The last stores would write beyond `out`; the scalar code packs the remaining codes.
        let Some(reach) = out[at..].first_chunk_mut() else {
            rest = &codes[i * 64..];
            break;
        };
        let halves = chunk.as_chunks::<32>().0;
        let codes = [0, 1].map(|half| _mm256_add_epi8(load_bytes(&halves[half]), biases));
        largest = _mm256_max_epu8(largest, _mm256_max_epu8(codes[0], codes[1]));
        pack64::<W>(codes, reach);
        at += 8 * W as usize;
    }
    scalar::pack_run::<W>(bias, rest, &mut out[at..]);
    // AVX2 cannot compare unsigned bytes: `max(largest, max) == max` replaces `largest <= max`.
    let max_everywhere = _mm256_set1_epi8(max.cast_signed());
    let in_range = _mm256_cmpeq_epi8(_mm256_max_epu8(largest, max_everywhere), max_everywhere);
    _mm256_movemask_epi8(in_range) == -1 && rest.iter().all(|code| code.wrapping_add(bias) <= max)
}

/// Packs 64 codes of `W` bits, one per byte, into `8 * W` bytes; the bytes after them are overwritten too. All other
/// bits of the codes must be zero.
#[inline]
#[avx2]
pub(super) fn pack64<const W: u32>(codes: [__m256i; 2], out: &mut [u8; REACH]) {
    for (half, codes) in codes.into_iter().enumerate() {
        let at = half * 4 * W as usize;
        if W == 8 {
            store_bytes(&mut out.as_chunks_mut::<32>().0[half], codes);
            continue;
        }
        let gathered = gather::<W>(codes);
        store_half(sixteen_mut(out, at), _mm256_castsi256_si128(gathered));
        store_half(sixteen_mut(out, at + 2 * W as usize), _mm256_extracti128_si256::<1>(gathered));
    }
}

/// Packs 16 codes of `W` bits in each 128-bit lane into `2 * W` bytes at the low end.
#[inline]
#[avx2]
fn gather<const W: u32>(codes: __m256i) -> __m256i {
    // The factors are the unsigned operand: 2^7 does not fit an i8, while codes of 7 bits do.
    let pairs = _mm256_maddubs_epi16(_mm256_set1_epi16((1 | (1_u16 << W) << 8).cast_signed()), codes);
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 | (1 << (2 * W)) << 16));
    let four = _mm256_set1_epi64x((1 << (4 * W)) - 1);
    let upper = _mm256_srlv_epi64(fours, _mm256_set1_epi64x(32 - 4 * i64::from(W)));
    // Bits that the shift leaves above the eight codes are not gathered.
    let eights = _mm256_or_si256(_mm256_and_si256(fours, four), _mm256_andnot_si256(four, upper));
    _mm256_shuffle_epi8(eights, load_bytes(const { &gather_bytes(W as usize) }))
}

/// Shuffle table that moves the first `width` bytes of both 8-byte halves of a 128-bit lane together, followed by
/// zeros.
const fn gather_bytes(width: usize) -> [u8; 32] {
    let mut table = [0x80; 32];
    let mut i = 0;
    while i < 2 * width {
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        let from = (i / width * 8 + i % width) as u8;
        table[i] = from;
        table[16 + i] = from;
        i += 1;
    }
    table
}

#[avx2]
pub(crate) fn pack_words(width: UnsignedWidth, codes: &[u16], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), pack_words_of(width.max_code(), codes, out))
}

#[avx2]
fn pack_words_of<const W: u32>(max: u16, codes: &[u16], out: &mut [u8]) -> bool {
    let (chunks, mut rest) = codes.as_chunks::<16>();
    let mut largest = _mm256_setzero_si256();
    let mut at = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let Some(reach) = out[at..].first_chunk_mut::<32>() else {
            rest = &codes[i * 16..];
            break;
        };
        let codes = load_words(chunk);
        largest = _mm256_max_epu16(largest, codes);
        let packed = pack16_words::<W>(codes);
        store_half(sixteen_mut(reach, 0), _mm256_castsi256_si128(packed));
        store_half(sixteen_mut(reach, W as usize), _mm256_extracti128_si256::<1>(packed));
        at += 2 * W as usize;
    }
    scalar::pack_words_run::<W>(rest, &mut out[at..]);
    let max_everywhere = _mm256_set1_epi16(max.cast_signed());
    let in_range = _mm256_cmpeq_epi16(_mm256_max_epu16(largest, max_everywhere), max_everywhere);
    _mm256_movemask_epi8(in_range) == -1 && rest.iter().all(|&code| code <= max)
}

/// Packs eight codes of `W` bits in each 128-bit lane into `W` bytes at the low end.
#[inline]
#[avx2]
fn pack16_words<const W: u32>(codes: __m256i) -> __m256i {
    let w = i64::from(W);
    let odd = _mm256_sllv_epi32(_mm256_srli_epi32::<16>(codes), _mm256_set1_epi32(W.cast_signed()));
    let pairs = _mm256_or_si256(_mm256_and_si256(codes, _mm256_set1_epi32(0xFFFF)), odd);
    let upper = _mm256_sllv_epi64(_mm256_srli_epi64::<32>(pairs), _mm256_set1_epi64x(2 * w));
    let fours = _mm256_or_si256(_mm256_and_si256(pairs, _mm256_set1_epi64x(0xFFFF_FFFF)), upper);
    // The even four stays, the odd four follows it across the middle of the lane. Shifts by 64 give zero.
    let even = _mm256_and_si256(fours, _mm256_setr_epi64x(-1, 0, -1, 0));
    let odd = _mm256_unpackhi_epi64(fours, fours);
    let low = _mm256_sllv_epi64(odd, _mm256_setr_epi64x(4 * w, 64, 4 * w, 64));
    let high = _mm256_srlv_epi64(odd, _mm256_setr_epi64x(64, 64 - 4 * w, 64, 64 - 4 * w));
    _mm256_or_si256(even, _mm256_or_si256(low, high))
}
