//! Extremes of eight blocks at once, reduced together by transposing as they shrink.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use crate::generic::ggml::extremes::Reduce;
use crate::generic::registers::proven;
use crate::x86_64::avx2::lanes::{Avx2, Eight};
use crate::x86_64::avx2::memory::load_f32;

/// Blocks encoded together, one per lane.
pub(super) type Blocks = [[f32; 32]; 8];

impl Reduce<8> for Avx2 {
    #[inline(always)]
    fn highest(self, blocks: &Blocks, least: Eight) -> Eight {
        Eight(proven!(highest(blocks, least.0)))
    }

    #[inline(always)]
    fn lowest(self, blocks: &Blocks, most: Eight) -> Eight {
        Eight(proven!(lowest(blocks, most.0)))
    }
}

// Both instructions return their second operand for NaN and for zeros of different signs.
#[inline]
#[avx2]
fn highest(blocks: &Blocks, least: __m256) -> __m256 {
    reduce(blocks, |x| x, least, |a, b| _mm256_max_ps(a, b))
}

#[inline]
#[avx2]
fn lowest(blocks: &Blocks, most: __m256) -> __m256 {
    reduce(blocks, |x| x, most, |a, b| _mm256_min_ps(a, b))
}

/// Returns each block's largest magnitude as bits; NaN sorts above infinity.
#[inline]
#[avx2]
pub(super) fn magnitudes(blocks: &Blocks) -> __m256 {
    let higher = |a, b| _mm256_castsi256_ps(_mm256_max_epu32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
    let magnitude = |x| _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
    reduce(blocks, magnitude, _mm256_setzero_ps(), higher)
}

/// Reduces each block, converted by `prepare`, together with `least` to one lane by `pick`. Block `i` ends in lane `i`.
#[inline]
#[avx2]
fn reduce(
    blocks: &Blocks,
    prepare: impl Fn(__m256) -> __m256,
    least: __m256,
    pick: impl Fn(__m256, __m256) -> __m256,
) -> __m256 {
    let [a, b] = core::array::from_fn(|four| {
        let [a, b, c, d] = core::array::from_fn(|i| {
            let parts = blocks[4 * four + i].as_chunks::<8>().0;
            let [w, x, y, z] = core::array::from_fn(|i| prepare(load_f32(&parts[i])));
            // If one operand may be NaN, the other is not and comes second, because `pick` returns the second for NaN.
            pick(pick(w, pick(x, least)), pick(y, pick(z, least)))
        });
        let ab = pick(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let cd = pick(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        let (ab, cd) = (_mm256_castps_pd(ab), _mm256_castps_pd(cd));
        let even = _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd));
        pick(even, _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)))
    });
    // Each register now holds four blocks in both of its 128-bit lanes.
    pick(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b))
}
