//! Bit packing, 64 bytes or 32 words at a time: neighbors are joined in wider lanes, then bytes are gathered.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_bytes, load_words, store_prefix, table};
use crate::backend::for_width;
use crate::{UnsignedWidth, scalar};

#[avx512]
pub(crate) fn pack_bytes(bits: u8, bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, pack_bytes_of(bias, max, codes, out))
}

#[avx512]
fn pack_bytes_of<const W: u32>(bias: u8, max: u8, codes: &[u8], out: &mut [u8]) -> bool {
    let bytes = 8 * W as usize;
    let (chunks, rest) = codes.as_chunks::<64>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * bytes);
    let biases = _mm512_set1_epi8(bias.cast_signed());
    let mut largest = _mm512_setzero_si512();
    for (chunk, out) in chunks.iter().zip(outs.chunks_exact_mut(bytes)) {
        let codes = _mm512_add_epi8(load_bytes(chunk), biases);
        largest = _mm512_max_epu8(largest, codes);
        store_prefix(out, pack64::<W>(codes));
    }
    scalar::pack_run::<W>(bias, rest, out_rest);
    let too_large = _mm512_cmpgt_epu8_mask(largest, _mm512_set1_epi8(max.cast_signed()));
    too_large == 0 && rest.iter().all(|code| code.wrapping_add(bias) <= max)
}

/// Packs 64 codes of `W` bits, one per byte, into `8 * W` bytes at the low end. All other bits of the codes must be
/// zero.
#[inline]
#[avx512]
pub(super) fn pack64<const W: u32>(codes: __m512i) -> __m512i {
    if W == 8 {
        return codes;
    }
    // The factors are the unsigned operand: 2^7 does not fit an i8, while codes of 7 bits do.
    let pairs = _mm512_maddubs_epi16(_mm512_set1_epi16((1 | (1_u16 << W) << 8).cast_signed()), codes);
    let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 | (1 << (2 * W)) << 16));
    let four = _mm512_set1_epi64((1 << (4 * W)) - 1);
    let upper = _mm512_srlv_epi64(fours, _mm512_set1_epi64(32 - 4 * i64::from(W)));
    // 0xCA selects bits from `fours` where the mask is set and from `upper` elsewhere; bits above are not gathered.
    let eights = _mm512_ternarylogic_epi64::<0xCA>(four, fours, upper);
    _mm512_permutexvar_epi8(table(const { &gather_bytes(8, W as usize) }), eights)
}

/// Permute table that moves the first `width` bytes of every `lane` bytes together.
const fn gather_bytes(lane: usize, width: usize) -> [u8; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 / lane * width {
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        let from = (i / width * lane + i % width) as u8;
        table[i] = from;
        i += 1;
    }
    table
}

#[avx512]
pub(crate) fn pack_words(width: UnsignedWidth, codes: &[u16], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), pack_words_of(width.max_code(), codes, out))
}

#[avx512]
fn pack_words_of<const W: u32>(max: u16, codes: &[u16], out: &mut [u8]) -> bool {
    let bytes = 4 * W as usize;
    let (chunks, rest) = codes.as_chunks::<32>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * bytes);
    let mut largest = _mm512_setzero_si512();
    for (chunk, out) in chunks.iter().zip(outs.chunks_exact_mut(bytes)) {
        let codes = load_words(chunk);
        largest = _mm512_max_epu16(largest, codes);
        store_prefix(out, pack32_words::<W>(codes));
    }
    scalar::pack_words_run::<W>(rest, out_rest);
    let too_large = _mm512_cmpgt_epu16_mask(largest, _mm512_set1_epi16(max.cast_signed()));
    too_large == 0 && rest.iter().all(|&code| code <= max)
}

/// Packs 32 codes of `W` bits, one per word, into `4 * W` bytes at the low end.
#[inline]
#[avx512]
fn pack32_words<const W: u32>(codes: __m512i) -> __m512i {
    let w = i64::from(W);
    let odd = _mm512_sllv_epi32(_mm512_srli_epi32::<16>(codes), _mm512_set1_epi32(W.cast_signed()));
    let pairs = _mm512_or_si512(_mm512_and_si512(codes, _mm512_set1_epi32(0xFFFF)), odd);
    let upper = _mm512_sllv_epi64(_mm512_srli_epi64::<32>(pairs), _mm512_set1_epi64(2 * w));
    let fours = _mm512_or_si512(_mm512_and_si512(pairs, _mm512_set1_epi64(0xFFFF_FFFF)), upper);
    // In each 128-bit lane the even four stays, the odd four follows it across the middle. Shifts by 64 give zero.
    let even = _mm512_maskz_mov_epi64(0b0101_0101, fours);
    let odd = _mm512_unpackhi_epi64(fours, fours);
    let low = _mm512_sllv_epi64(odd, _mm512_set4_epi64(64, 4 * w, 64, 4 * w));
    let high = _mm512_srlv_epi64(odd, _mm512_set4_epi64(64 - 4 * w, 64, 64 - 4 * w, 64));
    let eights = _mm512_ternarylogic_epi64::<0xFE>(even, low, high);
    _mm512_permutexvar_epi8(table(const { &gather_bytes(16, W as usize) }), eights)
}
