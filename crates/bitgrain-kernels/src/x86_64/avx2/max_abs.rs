//! Largest magnitude, four registers of running maxima.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::{load_f32, store_f32};
use crate::scalar;
use crate::x86_64::fours::Four;

#[avx2]
pub(crate) fn max_abs(values: &[f32]) -> f32 {
    let (vectors, rest) = values.as_chunks::<8>();
    let (fours, singles) = vectors.as_chunks::<4>();
    let mut max = [_mm256_setzero_ps(); 4];
    for four in fours {
        for (max, vector) in max.iter_mut().zip(four) {
            *max = max_or_keep(*max, load_f32(vector));
        }
    }
    for vector in singles {
        max[0] = max_or_keep(max[0], load_f32(vector));
    }
    let mut lanes = [0.0; 8];
    store_f32(&mut lanes, _mm256_max_ps(_mm256_max_ps(max[0], max[1]), _mm256_max_ps(max[2], max[3])));
    scalar::max_abs(&lanes).max(scalar::max_abs(rest))
}

/// `max_ps` returns its second operand when either is NaN, so the running maximum goes there.
#[inline]
#[avx2]
fn max_or_keep(max: __m256, values: __m256) -> __m256 {
    _mm256_max_ps(magnitude(values), max)
}

#[inline]
#[avx2]
pub(super) fn magnitude(values: __m256) -> __m256 {
    _mm256_andnot_ps(_mm256_set1_ps(-0.0), values)
}

/// The largest magnitude as bits; above `f32::MAX.to_bits()` if any value is not finite.
#[inline]
#[avx2]
pub(super) fn max_abs_bits(values: &[f32]) -> u32 {
    let (vectors, rest) = values.as_chunks::<8>();
    let (fours, singles) = vectors.as_chunks::<4>();
    let mut max = [_mm256_setzero_si256(); 4];
    for four in fours {
        for (max, vector) in max.iter_mut().zip(four) {
            *max = _mm256_max_epu32(*max, _mm256_castps_si256(magnitude(load_f32(vector))));
        }
    }
    for vector in singles {
        max[0] = _mm256_max_epu32(max[0], _mm256_castps_si256(magnitude(load_f32(vector))));
    }
    let max = _mm256_max_epu32(_mm256_max_epu32(max[0], max[1]), _mm256_max_epu32(max[2], max[3]));
    let max = _mm_max_epu32(_mm256_castsi256_si128(max), _mm256_extracti128_si256::<1>(max));
    let max = _mm_max_epu32(max, _mm_shuffle_epi32::<0b0100_1110>(max));
    let max = _mm_max_epu32(max, _mm_shuffle_epi32::<0b1011_0001>(max));
    _mm_cvtsi128_si32(max).cast_unsigned().max(scalar::max_abs_bits(rest))
}

/// The largest magnitudes of four blocks as bits, in order: reduced together, by transposing as they shrink.
#[inline]
#[avx2]
pub(super) fn max_bits_of_four(blocks: &Four) -> __m128i {
    let [a, b, c, d] = core::array::from_fn(|i| {
        let mut max = _mm256_setzero_si256();
        for vector in blocks[i].as_chunks::<8>().0 {
            max = _mm256_max_epu32(max, _mm256_castps_si256(magnitude(load_f32(vector))));
        }
        max
    });
    let ab = _mm256_max_epu32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let cd = _mm256_max_epu32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    let abcd = _mm256_max_epu32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
    _mm_max_epu32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256::<1>(abcd))
}
