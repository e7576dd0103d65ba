//! Quantization of activations to 8-bit codes, 32 at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::{load_f32, store_bytes};
use crate::product::{Place, TINY};
use crate::scalar;

#[avx2]
pub(crate) fn quantize_activations(
    values: &[f32],
    place: Place,
    codes: &mut [i32],
    scales: &mut [f32],
    sums: &mut [i32],
) -> bool {
    let (blocks, rest) = values.as_chunks::<32>();
    let mut good = true;
    for (block, values) in blocks.iter().enumerate() {
        let mut parts = [_mm256_setzero_ps(); 4];
        let mut most = _mm256_setzero_si256();
        for (part, values) in parts.iter_mut().zip(values.as_chunks().0) {
            *part = load_f32(values);
            // Magnitude bits compare like integers, and NaN is the largest.
            let bits = _mm256_and_si256(_mm256_castps_si256(*part), _mm256_set1_epi32(i32::MAX));
            most = _mm256_max_epi32(most, bits);
        }
        let largest = f32::from_bits(reduce(most, |a, b| _mm_max_epi32(a, b)).cast_unsigned());
        good &= largest.is_finite();
        let (mut row, mut sum, mut scale) = ([0; 32], 0, 0.0);
        // All-zero codes otherwise: the inverse of a smaller scale may overflow, and a non-finite block is rejected
        // anyway.
        if largest >= TINY && largest.is_finite() {
            scale = largest / 127.0;
            let inverse = _mm256_set1_ps(127.0 / largest);
            let [a, b, c, d] = parts.map(|part| _mm256_cvtps_epi32(_mm256_mul_ps(part, inverse)));
            let total = _mm256_add_epi32(_mm256_add_epi32(a, b), _mm256_add_epi32(c, d));
            sum = reduce(total, |a, b| _mm_add_epi32(a, b));
            // Packs interleave the 128-bit lanes; the permutation restores the order of dwords.
            let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            store_bytes(&mut row, _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
        }
        if let Some(row) = row.as_chunks::<4>().0.first_chunk() {
            place.store(block, row, scale, sum, (&mut *codes, &mut *scales, &mut *sums));
        }
    }
    if !rest.is_empty() {
        good &= scalar::quantize_block(blocks.len(), rest, place, codes, scales, sums);
    }
    good
}

/// Reduces eight lanes to one number with a commutative, associative operation.
#[inline]
#[avx2]
fn reduce(lanes: __m256i, two: impl Fn(__m128i, __m128i) -> __m128i) -> i32 {
    let four = two(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let pair = two(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    _mm_cvtsi128_si32(two(pair, _mm_shuffle_epi32::<0b10_11_00_01>(pair)))
}
