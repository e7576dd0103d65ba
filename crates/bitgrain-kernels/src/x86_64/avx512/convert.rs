//! Half precision and bfloat16, 16 at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::lanes::{load_f32, store_f32};
use crate::scalar;

#[avx512]
pub(crate) fn f16_from_f32(values: &[f32], out: &mut [u16]) {
    let (chunks, rest) = values.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        store_words(out, _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(load_f32(values)));
    }
    scalar::f16_from_f32(rest, out_rest);
}

#[avx512]
pub(crate) fn f16_to_f32(codes: &[u16], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        store_f32(out, _mm512_cvtph_ps(load_words(codes)));
    }
    scalar::f16_to_f32(rest, out_rest);
}

/// By hand: the instruction of AVX512_BF16 flushes subnormals.
#[avx512]
pub(crate) fn bf16_from_f32(values: &[f32], out: &mut [u16]) {
    let (chunks, rest) = values.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        let values = load_f32(values);
        let bits = _mm512_castps_si512(values);
        let upper = _mm512_srli_epi32::<16>(bits);
        let odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
        let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(values, values);
        let quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
        let code = _mm512_mask_mov_epi32(_mm512_srli_epi32::<16>(rounded), nan, quiet);
        store_words(out, _mm512_cvtepi32_epi16(code));
    }
    scalar::bf16_from_f32(rest, out_rest);
}

#[avx512]
pub(crate) fn bf16_to_f32(codes: &[u16], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        let bits = _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(load_words(codes)));
        store_f32(out, _mm512_castsi512_ps(bits));
    }
    scalar::bf16_to_f32(rest, out_rest);
}

#[inline]
#[avx512]
fn load_words(words: &[u16; 16]) -> __m256i {
    // SAFETY: 32 readable bytes behind the reference; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[avx512]
fn store_words(out: &mut [u16; 16], words: __m256i) {
    // SAFETY: 32 writable bytes behind the reference; `storeu` needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), words) }
}
