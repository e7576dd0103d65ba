//! FP8 and FP4, 8 at a time: the scalar rule with blends for branches.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::{load_f32, store_f32};
use super::max_abs::magnitude as magnitude_of;
use crate::minifloat::Minifloat;
use crate::scalar;

#[avx2]
pub(crate) fn minifloat_from_f32<F: Minifloat>(values: &[f32], out: &mut [u8]) {
    let (chunks, rest) = values.as_chunks::<8>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 8);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<8>().0) {
        let codes = narrow::<F>(load_f32(values));
        let words = _mm_packus_epi32(_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
        let bytes = _mm_cvtsi128_si64(_mm_packus_epi16(words, words));
        *out = bytes.to_le_bytes();
    }
    scalar::minifloat_from_f32::<F>(rest, out_rest);
}

#[inline]
#[avx2]
fn narrow<F: Minifloat>(values: __m256) -> __m256i {
    let int = |value: u32| _mm256_set1_epi32(value.cast_signed());
    let by = |value: u32| _mm_cvtsi32_si128(value.cast_signed());
    let sign = _mm256_and_si256(_mm256_srl_epi32(_mm256_castps_si256(values), by(32 - F::BITS)), int(F::SIGN));
    let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
    let magnitude = _mm256_min_ps(magnitude_of(values), _mm256_set1_ps(F::MAX));
    let bits = _mm256_castps_si256(magnitude);
    let odd = _mm256_and_si256(_mm256_srl_epi32(bits, by(F::SHIFT)), int(1));
    let rounded = _mm256_add_epi32(_mm256_add_epi32(bits, int((1 << (F::SHIFT - 1)) - 1)), odd);
    let normal = _mm256_sub_epi32(_mm256_srl_epi32(rounded, by(F::SHIFT)), int(F::REBIAS));
    let small = _mm256_castps_si256(_mm256_add_ps(magnitude, _mm256_set1_ps(F::SUBNORMAL_MAGIC)));
    let subnormal = _mm256_and_si256(small, int(F::SIGN - 1));
    let is_small = _mm256_cmp_ps::<_CMP_LT_OQ>(magnitude, _mm256_set1_ps(F::MIN_NORMAL));
    let code = _mm256_blendv_epi8(normal, subnormal, _mm256_castps_si256(is_small));
    let nan_code = if F::NAN == 0 { int(0) } else { _mm256_or_si256(sign, int(F::NAN)) };
    _mm256_blendv_epi8(_mm256_or_si256(code, sign), nan_code, nan)
}

#[avx2]
pub(crate) fn minifloat_to_f32<F: Minifloat>(codes: &[u8], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<8>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 8);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<8>().0) {
        let codes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*codes)));
        store_f32(out, widen::<F>(codes));
    }
    scalar::minifloat_to_f32::<F>(rest, out_rest);
}

#[inline]
#[avx2]
fn widen<F: Minifloat>(codes: __m256i) -> __m256 {
    let int = |value: u32| _mm256_set1_epi32(value.cast_signed());
    let by = |value: u32| _mm_cvtsi32_si128(value.cast_signed());
    let sign = _mm256_sll_epi32(_mm256_and_si256(codes, int(F::SIGN)), by(32 - F::BITS));
    let magnitude = _mm256_and_si256(codes, int(F::SIGN - 1));
    let normal = _mm256_sll_epi32(_mm256_add_epi32(magnitude, int(F::REBIAS)), by(F::SHIFT));
    let steps = _mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), _mm256_set1_ps(F::STEP));
    let is_small = _mm256_cmpgt_epi32(int(1 << F::MANTISSA), magnitude);
    let mut bits = _mm256_blendv_epi8(normal, _mm256_castps_si256(steps), is_small);
    if F::NAN != 0 {
        let special = _mm256_cmpgt_epi32(magnitude, int(F::INFINITY.unwrap_or(F::NAN) - 1));
        bits = _mm256_blendv_epi8(bits, int(0x7FC0_0000), special);
    }
    if let Some(infinity) = F::INFINITY {
        bits = _mm256_blendv_epi8(bits, int(0x7F80_0000), _mm256_cmpeq_epi32(magnitude, int(infinity)));
    }
    _mm256_castsi256_ps(_mm256_or_si256(bits, sign))
}
