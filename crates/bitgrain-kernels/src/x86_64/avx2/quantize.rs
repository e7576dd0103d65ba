//! Conversion between values and codes, 32 at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_bytes, load_f32, store_bytes, store_f32};
use crate::cast::{as_bytes, as_bytes_mut, as_codes};
use crate::x86_64::divisor::Divisor;
use crate::{BitWidth, scalar};

#[avx2]
pub(crate) fn quantize(width: BitWidth, values: &[f32], scale: f32, codes: &mut [i8]) {
    if scale == 0.0 {
        codes.fill(0);
        return;
    }
    let divisor = Divisor::new(scale);
    let (chunks, rest) = values.as_chunks::<32>();
    let (outs, out_rest) = codes.split_at_mut(chunks.len() * 32);
    for (chunk, out) in chunks.iter().zip(as_bytes_mut(outs).as_chunks_mut::<32>().0) {
        store_bytes(out, codes32::<true>(chunk, divisor, width.qmax(), 0));
    }
    scalar::quantize(width, rest, scale, out_rest);
}

/// Computes the codes of 64 values plus `bias`.
#[inline]
#[avx2]
pub(super) fn codes64<const FOREIGN: bool>(values: &[f32; 64], divisor: Divisor, qmax: u8, bias: u8) -> [__m256i; 2] {
    let halves = values.as_chunks::<32>().0;
    [0, 1].map(|half| codes32::<FOREIGN>(&halves[half], divisor, qmax, bias))
}

/// Computes the codes of 32 values plus `bias`. `FOREIGN`: the scale was not computed from these values, so they may
/// need clamping and may contain NaN.
#[inline]
#[avx2]
fn codes32<const FOREIGN: bool>(values: &[f32; 32], divisor: Divisor, qmax: u8, bias: u8) -> __m256i {
    let vectors = values.as_chunks::<8>().0;
    let x = [load_f32(&vectors[0]), load_f32(&vectors[1]), load_f32(&vectors[2]), load_f32(&vectors[3])];
    if let Some(factor) = divisor.factor {
        let factor = _mm256_set1_ps(factor);
        let offset = _mm256_set1_ps(Divisor::OFFSET + f32::from(bias) * Divisor::ONE);
        let limit = _mm256_set1_ps(f32::from(qmax) * Divisor::ONE);
        let fixed = x.map(|x| {
            if !FOREIGN {
                return _mm256_cvtps_epi32(_mm256_fmadd_ps(x, factor, offset));
            }
            _mm256_cvtps_epi32(_mm256_add_ps(clamp_finite(_mm256_mul_ps(x, factor), limit), offset))
        });
        // Lower halves of two registers in one, so that half as many comparisons find an uncertain value.
        let low = |even, odd| _mm256_blend_epi16::<0xAA>(even, _mm256_slli_epi32::<16>(odd));
        let least = _mm256_min_epu16(low(fixed[0], fixed[1]), low(fixed[2], fixed[3]));
        let uncertain = _mm256_set1_epi16(Divisor::UNCERTAIN.cast_signed());
        // Unsigned `least <= uncertain`, which AVX2 only has as `min(least, uncertain) == least`.
        let unsure = _mm256_cmpeq_epi16(_mm256_min_epu16(least, uncertain), least);
        if _mm256_testz_si256(unsure, unsure) == 1 {
            let high = |even, odd| _mm256_blend_epi16::<0xAA>(_mm256_srli_epi32::<16>(even), odd);
            let codes = _mm256_packs_epi16(high(fixed[0], fixed[1]), high(fixed[2], fixed[3]));
            // Neighbors are interleaved: first join each register's four codes per lane, then order the lanes.
            let lane = _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
            let codes = _mm256_shuffle_epi8(codes, _mm256_broadcastsi128_si256(lane));
            return _mm256_permutevar8x32_epi32(codes, lane_order());
        }
    }
    divided32(values, divisor.scale, qmax, bias)
}

/// Divides instead, for the few values whose code is uncertain otherwise.
#[cold]
#[inline(never)]
#[avx2]
fn divided32(values: &[f32; 32], scale: f32, qmax: u8, bias: u8) -> __m256i {
    let (scale, limit) = (_mm256_set1_ps(scale), _mm256_set1_ps(f32::from(qmax)));
    let mut codes = [_mm256_setzero_si256(); 4];
    for (code, x) in codes.iter_mut().zip(values.as_chunks::<8>().0) {
        *code = _mm256_cvtps_epi32(clamp_finite(_mm256_div_ps(load_f32(x), scale), limit));
    }
    _mm256_add_epi8(narrow(codes), _mm256_set1_epi8(bias.cast_signed()))
}

/// Replaces NaN by 0 and clamps the rest to `-limit..=limit`.
#[inline]
#[avx2]
fn clamp_finite(quotient: __m256, limit: __m256) -> __m256 {
    // `min` returns its second operand for NaN; the mask below turns that into 0.
    let clamped = _mm256_max_ps(_mm256_min_ps(quotient, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
    _mm256_and_ps(_mm256_cmp_ps::<_CMP_ORD_Q>(quotient, quotient), clamped)
}

/// Packs work within 128-bit lanes: dword `4 * lane + register` belongs at `2 * register + lane`.
#[inline]
#[avx2]
fn lane_order() -> __m256i {
    _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)
}

/// Narrows 32 small integers in four registers to 32 bytes, in order.
#[inline]
#[avx2]
fn narrow(codes: [__m256i; 4]) -> __m256i {
    let low = _mm256_packs_epi32(codes[0], codes[1]);
    let high = _mm256_packs_epi32(codes[2], codes[3]);
    _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), lane_order())
}

#[avx2]
pub(crate) fn dequantize(codes: &[i8], scale: f32, out: &mut [f32]) {
    let (chunks, rest) = as_bytes(codes).as_chunks::<32>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 32);
    for (chunk, out) in chunks.iter().zip(outs.as_chunks_mut::<32>().0) {
        values32(load_bytes(chunk), _mm256_set1_ps(scale), out);
    }
    scalar::dequantize(as_codes(rest), scale, out_rest);
}

/// Multiplies 32 signed codes by a scale.
#[inline]
#[avx2]
pub(super) fn values32(codes: __m256i, scale: __m256, out: &mut [f32; 32]) {
    for (values, out) in floats32(codes).into_iter().zip(out.as_chunks_mut::<8>().0) {
        store_f32(out, _mm256_mul_ps(values, scale));
    }
}

/// Converts 32 signed codes to floats.
#[inline]
#[avx2]
pub(super) fn floats32(codes: __m256i) -> [__m256; 4] {
    let (low, high) = (_mm256_castsi256_si128(codes), _mm256_extracti128_si256::<1>(codes));
    let eights = [low, _mm_srli_si128::<8>(low), high, _mm_srli_si128::<8>(high)];
    eights.map(|eight| _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight)))
}
