//! Largest magnitudes of blocks, for the block encoders.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::lanes::Avx512;
use super::memory::load_f32;
use crate::generic;
use crate::x86_64::fours::Four;

/// Returns the largest magnitude as bits; above `f32::MAX.to_bits()` if any value is not finite.
#[inline]
#[avx512]
pub(super) fn max_abs_bits(values: &[f32]) -> u32 {
    generic::max_abs::max_abs_bits(Avx512::new(), values)
}

/// Returns the largest magnitudes of four blocks as bits, in order: reduced together, by transposing as they shrink.
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
