//! Values to codes and back, 32 at a time.

use core::arch::x86_64::*;

use super::lanes::{load_bytes, load_f32, store_bytes, store_f32};
use super::max_abs::magnitude;
use crate::cast::{as_bytes, as_bytes_mut, as_codes};
use crate::x86_64::divisor::Divisor;
use crate::{BitWidth, scalar};

#[target_feature(enable = "avx2,f16c")]
pub(crate) fn quantize(width: BitWidth, values: &[f32], scale: f32, codes: &mut [i8]) {
    if scale == 0.0 {
        codes.fill(0);
        return;
    }
    let divisor = Divisor::new(scale);
    let (chunks, rest) = values.as_chunks::<32>();
    let (outs, out_rest) = codes.split_at_mut(chunks.len() * 32);
    for (chunk, out) in chunks.iter().zip(as_bytes_mut(outs).as_chunks_mut::<32>().0) {
        store_bytes(out, codes32::<true>(chunk, divisor, width.qmax()));
    }
    scalar::quantize(width, rest, scale, out_rest);
}

/// Signed codes of 32 values. `FOREIGN`: the scale was not made for these values, so they may need clamping and may
/// hold NaN.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn codes32<const FOREIGN: bool>(values: &[f32; 32], divisor: Divisor, qmax: u8) -> __m256i {
    let vectors = values.as_chunks::<8>().0;
    let x = [load_f32(&vectors[0]), load_f32(&vectors[1]), load_f32(&vectors[2]), load_f32(&vectors[3])];
    let limit = _mm256_set1_ps(f32::from(qmax));
    if let Some(reciprocal) = divisor.reciprocal {
        let reciprocal = _mm256_set1_ps(reciprocal);
        let mut codes = [_mm256_setzero_si256(); 4];
        let mut worst = _mm256_setzero_ps();
        for (code, x) in codes.iter_mut().zip(x) {
            let quotient = tame::<FOREIGN>(_mm256_mul_ps(x, reciprocal), limit);
            *code = _mm256_cvtps_epi32(quotient);
            let off = _mm256_sub_ps(quotient, _mm256_cvtepi32_ps(*code));
            worst = _mm256_max_ps(worst, magnitude(off));
        }
        let unsure = _mm256_cmp_ps::<_CMP_GT_OQ>(worst, _mm256_set1_ps(Divisor::CERTAIN));
        if _mm256_movemask_ps(unsure) == 0 {
            return narrow(codes);
        }
    }
    let scale = _mm256_set1_ps(divisor.scale);
    narrow(x.map(|x| _mm256_cvtps_epi32(tame::<FOREIGN>(_mm256_div_ps(x, scale), limit))))
}

/// NaN to 0 and the rest into `-limit..=limit`, where that is needed.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn tame<const FOREIGN: bool>(quotient: __m256, limit: __m256) -> __m256 {
    if !FOREIGN {
        return quotient;
    }
    let clamped = _mm256_max_ps(_mm256_min_ps(quotient, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
    _mm256_and_ps(_mm256_cmp_ps::<_CMP_ORD_Q>(quotient, quotient), clamped)
}

/// 32 small integers in four registers as 32 bytes, in order.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn narrow(codes: [__m256i; 4]) -> __m256i {
    let low = _mm256_packs_epi32(codes[0], codes[1]);
    let high = _mm256_packs_epi32(codes[2], codes[3]);
    // The packs work within 128-bit lanes: dword `4 * lane + register` belongs at `2 * register + lane`.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order)
}

#[target_feature(enable = "avx2,f16c")]
pub(crate) fn dequantize(codes: &[i8], scale: f32, out: &mut [f32]) {
    let (chunks, rest) = as_bytes(codes).as_chunks::<32>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 32);
    for (chunk, out) in chunks.iter().zip(outs.as_chunks_mut::<32>().0) {
        values32(load_bytes(chunk), _mm256_set1_ps(scale), out);
    }
    scalar::dequantize(as_codes(rest), scale, out_rest);
}

/// 32 signed codes times a scale.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn values32(codes: __m256i, scale: __m256, out: &mut [f32; 32]) {
    for (values, out) in floats32(codes).into_iter().zip(out.as_chunks_mut::<8>().0) {
        store_f32(out, _mm256_mul_ps(values, scale));
    }
}

/// 32 signed codes as floats.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn floats32(codes: __m256i) -> [__m256; 4] {
    let (low, high) = (_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
    let eights = [low, _mm_srli_si128::<8>(low), high, _mm_srli_si128::<8>(high)];
    eights.map(|eight| _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight)))
}
