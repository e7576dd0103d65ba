//! FP8 and FP4, 16 at a time: the scalar rule with blends for branches.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::lanes::{load_f32, store_f32};
use crate::minifloat::Minifloat;
use crate::scalar;

#[avx512]
pub(crate) fn minifloat_from_f32<F: Minifloat>(values: &[f32], out: &mut [u8]) {
    let (chunks, rest) = values.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        let codes = _mm512_cvtepi32_epi8(narrow::<F>(load_f32(values)));
        // SAFETY: `out` is `&mut [u8; 16]`, 16 writable bytes; `storeu` needs no alignment.
        unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), codes) };
    }
    scalar::minifloat_from_f32::<F>(rest, out_rest);
}

#[inline]
#[avx512]
fn narrow<F: Minifloat>(values: __m512) -> __m512i {
    let int = |value: u32| _mm512_set1_epi32(value.cast_signed());
    let by = |value: u32| _mm_cvtsi32_si128(value.cast_signed());
    let sign = _mm512_and_si512(_mm512_srl_epi32(_mm512_castps_si512(values), by(32 - F::BITS)), int(F::SIGN));
    let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(values, values);
    let magnitude = _mm512_min_ps(_mm512_abs_ps(values), _mm512_set1_ps(F::MAX));
    let bits = _mm512_castps_si512(magnitude);
    let odd = _mm512_and_si512(_mm512_srl_epi32(bits, by(F::SHIFT)), int(1));
    let rounded = _mm512_add_epi32(_mm512_add_epi32(bits, int((1 << (F::SHIFT - 1)) - 1)), odd);
    let normal = _mm512_sub_epi32(_mm512_srl_epi32(rounded, by(F::SHIFT)), int(F::REBIAS));
    let small = _mm512_castps_si512(_mm512_add_ps(magnitude, _mm512_set1_ps(F::SUBNORMAL_MAGIC)));
    let subnormal = _mm512_and_si512(small, int(F::SIGN - 1));
    let is_small = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(magnitude, _mm512_set1_ps(F::MIN_NORMAL));
    let code = _mm512_or_si512(_mm512_mask_mov_epi32(normal, is_small, subnormal), sign);
    let nan_code = if F::NAN == 0 { int(0) } else { _mm512_or_si512(sign, int(F::NAN)) };
    _mm512_mask_mov_epi32(code, nan, nan_code)
}

#[avx512]
pub(crate) fn minifloat_to_f32<F: Minifloat>(codes: &[u8], out: &mut [f32]) {
    let (chunks, rest) = codes.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (codes, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        // SAFETY: `codes` is `&[u8; 16]`, 16 readable bytes; `loadu` needs no alignment.
        let codes = unsafe { _mm_loadu_si128(codes.as_ptr().cast()) };
        store_f32(out, widen::<F>(_mm512_cvtepu8_epi32(codes)));
    }
    scalar::minifloat_to_f32::<F>(rest, out_rest);
}

#[inline]
#[avx512]
fn widen<F: Minifloat>(codes: __m512i) -> __m512 {
    let int = |value: u32| _mm512_set1_epi32(value.cast_signed());
    let by = |value: u32| _mm_cvtsi32_si128(value.cast_signed());
    let sign = _mm512_sll_epi32(_mm512_and_si512(codes, int(F::SIGN)), by(32 - F::BITS));
    let magnitude = _mm512_and_si512(codes, int(F::SIGN - 1));
    let normal = _mm512_sll_epi32(_mm512_add_epi32(magnitude, int(F::REBIAS)), by(F::SHIFT));
    let steps = _mm512_mul_ps(_mm512_cvtepi32_ps(magnitude), _mm512_set1_ps(F::STEP));
    let is_small = _mm512_cmplt_epu32_mask(magnitude, int(1 << F::MANTISSA));
    let mut bits = _mm512_mask_mov_epi32(normal, is_small, _mm512_castps_si512(steps));
    if F::NAN != 0 {
        let first = F::INFINITY.unwrap_or(F::NAN);
        bits = _mm512_mask_mov_epi32(bits, _mm512_cmpge_epu32_mask(magnitude, int(first)), int(0x7FC0_0000));
    }
    if let Some(infinity) = F::INFINITY {
        bits = _mm512_mask_mov_epi32(bits, _mm512_cmpeq_epu32_mask(magnitude, int(infinity)), int(0x7F80_0000));
    }
    _mm512_castsi512_ps(_mm512_or_si512(bits, sign))
}
