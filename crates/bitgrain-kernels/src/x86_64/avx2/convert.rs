//! Half precision (F16C) and bfloat16, 8 at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::{load_eight_words, load_f32, store_eight_words, store_f32};
use crate::scalar;

#[avx2]
pub(crate) fn f16_from_f32(values: &[f32], out: &mut [u16]) {
    let (chunks, rest) = values.as_chunks::<8>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 8);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<8>().0) {
        store_eight_words(out, _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(load_f32(values)));
    }
    scalar::f16_from_f32(rest, out_rest);
}

#[avx2]
pub(crate) fn f16_to_f32(codes: &[u16], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<8>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 8);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<8>().0) {
        store_f32(out, _mm256_cvtph_ps(load_eight_words(codes)));
    }
    scalar::f16_to_f32(rest, out_rest);
}

#[avx2]
pub(crate) fn bf16_from_f32(values: &[f32], out: &mut [u16]) {
    let (chunks, rest) = values.as_chunks::<8>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 8);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<8>().0) {
        let values = load_f32(values);
        let bits = _mm256_castps_si256(values);
        let upper = _mm256_srli_epi32::<16>(bits);
        let odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
        let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF)));
        let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
        let quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
        let code = _mm256_blendv_epi8(_mm256_srli_epi32::<16>(rounded), quiet, nan);
        let words = _mm_packus_epi32(_mm256_castsi256_si128(code), _mm256_extracti128_si256::<1>(code));
        store_eight_words(out, words);
    }
    scalar::bf16_from_f32(rest, out_rest);
}

#[avx2]
pub(crate) fn bf16_to_f32(codes: &[u16], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<8>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 8);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<8>().0) {
        let bits = _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(load_eight_words(codes)));
        store_f32(out, _mm256_castsi256_ps(bits));
    }
    scalar::bf16_to_f32(rest, out_rest);
}
