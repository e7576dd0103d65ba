//! Largest magnitudes of blocks, for the block encoders.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::Avx2;
use super::memory::load_f32;
use crate::generic;
use crate::x86_64::fours::Four;

/// Returns the largest magnitude as bits; above `f32::MAX.to_bits()` if any value is not finite.
#[inline]
#[avx2]
pub(super) fn max_abs_bits(values: &[f32]) -> u32 {
    generic::max_abs::max_abs_bits(Avx2::new(), values)
}

/// Returns the largest magnitudes of four blocks as bits, in order: reduced together, by transposing as they shrink.
#[inline]
#[avx2]
pub(super) fn max_bits_of_four(blocks: &Four) -> __m128i {
    let [a, b, c, d] = core::array::from_fn(|i| {
        let mut max = _mm256_setzero_si256();
        for vector in blocks[i].as_chunks::<8>().0 {
            max = _mm256_max_epu32(max, magnitude_bits(load_f32(vector)));
        }
        max
    });
    // Each step halves the values per block and doubles the blocks per register, so that no reduction is done alone.
    let ab = _mm256_max_epu32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let cd = _mm256_max_epu32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    let abcd = _mm256_max_epu32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
    _mm_max_epu32(_mm256_castsi256_si128(abcd), _mm256_extracti128_si256::<1>(abcd))
}

#[inline]
#[avx2]
fn magnitude_bits(values: __m256) -> __m256i {
    _mm256_castps_si256(_mm256_andnot_ps(_mm256_set1_ps(-0.0), values))
}
