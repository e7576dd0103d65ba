//! Bit unpacking, 64 bytes or 16 words at a time: a byte permute moves each group of codes to its lane, a multishift
//! extracts the codes.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_prefix, store_bytes, table};
use crate::backend::for_width;
use crate::{UnsignedWidth, scalar};

#[avx512]
pub(crate) fn unpack_bytes(bits: u8, bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    for_width!([1 2 3 4 5 6 7 8], bits, unpack_bytes_of(bias, max, bytes, out))
}

#[avx512]
fn unpack_bytes_of<const W: u32>(bias: u8, max: u8, bytes: &[u8], out: &mut [u8]) -> bool {
    let step = 8 * W as usize;
    let (outs, out_rest) = out.as_chunks_mut::<64>();
    let (chunks, rest) = bytes.split_at(outs.len() * step);
    let biases = _mm512_set1_epi8(bias.cast_signed());
    let mut largest = _mm512_setzero_si512();
    for (chunk, out) in chunks.chunks_exact(step).zip(outs) {
        let codes = unpack64::<W>(chunk);
        largest = _mm512_max_epu8(largest, codes);
        store_bytes(out, _mm512_sub_epi8(codes, biases));
    }
    scalar::unpack_run::<W>(bias, rest, out_rest);
    let too_large = _mm512_cmpgt_epu8_mask(largest, _mm512_set1_epi8(max.cast_signed()));
    too_large == 0 && out_rest.iter().all(|code| code.wrapping_add(bias) <= max)
}

/// Unpacks 64 codes of `W` bits from `8 * W` bytes, one per byte.
#[inline]
#[avx512]
pub(super) fn unpack64<const W: u32>(bytes: &[u8]) -> __m512i {
    let packed = load_prefix(bytes);
    if W == 8 {
        return packed;
    }
    let eights = _mm512_permutexvar_epi8(table(const { &scatter_bytes(W as usize) }), packed);
    let codes = _mm512_multishift_epi64_epi8(table(const { &shifts(W as usize) }), eights);
    _mm512_and_si512(codes, _mm512_set1_epi8((u8::MAX >> (8 - W)).cast_signed()))
}

/// Permute table that gives each 8-byte lane its `width` bytes, followed by arbitrary bytes.
const fn scatter_bytes(width: usize) -> [u8; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 56 + 7")]
        let from = (i / 8 * width + i % 8) as u8;
        table[i] = from;
        i += 1;
    }
    table
}

/// Table of the start bit of each code in a lane.
const fn shifts(width: usize) -> [u8; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 56")]
        let shift = (i % 8 * width) as u8;
        table[i] = shift;
        i += 1;
    }
    table
}

#[avx512]
pub(crate) fn unpack_words(width: UnsignedWidth, bytes: &[u8], out: &mut [u16]) {
    for_width!([1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], width.bits(), unpack_words_of(bytes, out));
}

#[avx512]
fn unpack_words_of<const W: u32>(bytes: &[u8], out: &mut [u16]) {
    let step = 2 * W as usize;
    let (outs, out_rest) = out.as_chunks_mut::<16>();
    let (chunks, rest) = bytes.split_at(outs.len() * step);
    let mask = _mm512_set1_epi32((1 << W) - 1);
    for (chunk, out) in chunks.chunks_exact(step).zip(outs) {
        let windows = _mm512_permutexvar_epi8(table(const { &windows(W as usize) }), load_prefix(chunk));
        let shifts = _mm512_and_si512(
            _mm512_mullo_epi32(_mm512_set1_epi32(W.cast_signed()), lane_numbers()),
            _mm512_set1_epi32(7),
        );
        let codes = _mm512_and_si512(_mm512_srlv_epi32(windows, shifts), mask);
        let words = _mm512_cvtepi32_epi16(codes);
        // SAFETY: `out` is `&mut [u16; 16]`, 32 writable bytes; `storeu` needs no alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), words) };
    }
    scalar::unpack_words_run::<W>(rest, out_rest);
}

/// Returns the lane indices.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_numbers() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// Permute table that gives each 4-byte lane the bytes that contain its code.
const fn windows(width: usize) -> [u8; 64] {
    let mut table = [0; 64];
    let mut i = 0;
    while i < 64 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 30 + 3")]
        let from = (i / 4 * width / 8 + i % 4) as u8;
        table[i] = from;
        i += 1;
    }
    table
}
