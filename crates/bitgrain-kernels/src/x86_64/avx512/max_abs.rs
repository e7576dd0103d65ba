//! Largest magnitude, four registers of running maxima.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::lanes::{load_f32, load_prefix_f32};
use crate::x86_64::fours::Four;

#[avx512]
pub(crate) fn max_abs(values: &[f32]) -> f32 {
    let (vectors, rest) = values.as_chunks::<16>();
    let (fours, singles) = vectors.as_chunks::<4>();
    let mut max = [_mm512_setzero_ps(); 4];
    for four in fours {
        for (max, vector) in max.iter_mut().zip(four) {
            *max = max_or_keep(*max, load_f32(vector));
        }
    }
    for vector in singles {
        max[0] = max_or_keep(max[0], load_f32(vector));
    }
    max[1] = max_or_keep(max[1], load_prefix_f32(rest));
    _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(max[0], max[1]), _mm512_max_ps(max[2], max[3])))
}

/// `max_ps` returns its second operand when either is NaN, so the running maximum goes there.
#[inline]
#[avx512]
fn max_or_keep(max: __m512, values: __m512) -> __m512 {
    _mm512_max_ps(_mm512_abs_ps(values), max)
}

/// The largest magnitude as bits; above `f32::MAX.to_bits()` if any value is not finite.
#[inline]
#[avx512]
pub(super) fn max_abs_bits(values: &[f32]) -> u32 {
    let (vectors, rest) = values.as_chunks::<16>();
    let (fours, singles) = vectors.as_chunks::<4>();
    let mut max = [_mm512_setzero_si512(); 4];
    for four in fours {
        for (max, vector) in max.iter_mut().zip(four) {
            *max = _mm512_max_epu32(*max, magnitude_bits(load_f32(vector)));
        }
    }
    for vector in singles {
        max[0] = _mm512_max_epu32(max[0], magnitude_bits(load_f32(vector)));
    }
    if !rest.is_empty() {
        max[1] = _mm512_max_epu32(max[1], magnitude_bits(load_prefix_f32(rest)));
    }
    _mm512_reduce_max_epu32(_mm512_max_epu32(_mm512_max_epu32(max[0], max[1]), _mm512_max_epu32(max[2], max[3])))
}

/// The largest magnitudes of four blocks as bits, in order: reduced together, by transposing as they shrink.
#[inline]
#[avx512]
pub(super) fn max_bits_of_four(blocks: &Four) -> __m128i {
    let [a, b, c, d] = core::array::from_fn(|i| {
        let [w, x, y, z] = core::array::from_fn(|j| magnitude_bits(load_f32(&blocks[i].as_chunks::<16>().0[j])));
        _mm512_max_epu32(_mm512_max_epu32(w, x), _mm512_max_epu32(y, z))
    });
    let ab = _mm512_max_epu32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_max_epu32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    let abcd = _mm512_max_epu32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    let half = _mm256_max_epu32(_mm512_castsi512_si256(abcd), _mm512_extracti64x4_epi64::<1>(abcd));
    _mm_max_epu32(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
}

#[inline]
#[avx512]
fn magnitude_bits(values: __m512) -> __m512i {
    _mm512_castps_si512(_mm512_abs_ps(values))
}
