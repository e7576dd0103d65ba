//! Nearest level of IQ4_NL by bisection: four comparisons, each against a table indexed by the earlier results.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::memory::load_f32;
use crate::ggml::scale_search::levels::{LEVEL_STARTS, LEVELS};

/// Starts of the levels for the next bit: entry `n` applies after the bits of `n`.
static THIRD: [f32; 8] = [
    LEVEL_STARTS[1],
    LEVEL_STARTS[5],
    LEVEL_STARTS[9],
    LEVEL_STARTS[13],
    LEVEL_STARTS[1],
    LEVEL_STARTS[5],
    LEVEL_STARTS[9],
    LEVEL_STARTS[13],
];
static FOURTH: [f32; 8] = [
    LEVEL_STARTS[0],
    LEVEL_STARTS[2],
    LEVEL_STARTS[4],
    LEVEL_STARTS[6],
    LEVEL_STARTS[8],
    LEVEL_STARTS[10],
    LEVEL_STARTS[12],
    LEVEL_STARTS[14],
];

/// Returns the nearest levels, the upper one on ties.
#[inline]
#[avx2]
pub(super) fn nearest_level(values: __m256) -> __m256 {
    let first = reached(values, _mm256_set1_ps(LEVEL_STARTS[7]));
    let (low, high) = (_mm256_set1_ps(LEVEL_STARTS[3]), _mm256_set1_ps(LEVEL_STARTS[11]));
    let second = reached(values, _mm256_blendv_ps(low, high, first));
    let code = with_bit(with_bit(_mm256_setzero_si256(), first), second);
    let third = reached(values, _mm256_permutevar8x32_ps(load_f32(&THIRD), code));
    let code = with_bit(code, third);
    let fourth = reached(values, _mm256_permutevar8x32_ps(load_f32(&FOURTH), code));
    let code = with_bit(code, fourth);
    let ([low, high], _) = LEVELS.as_chunks::<8>() else { return _mm256_setzero_ps() };
    let (low, high) = (load_f32(low), load_f32(high));
    _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, code), _mm256_permutevar8x32_ps(high, code), first)
}

#[inline]
#[avx2]
fn reached(values: __m256, starts: __m256) -> __m256 {
    _mm256_cmp_ps::<_CMP_GE_OQ>(values, starts)
}

/// Returns twice the code, plus one where the mask is set.
#[inline]
#[avx2]
fn with_bit(code: __m256i, mask: __m256) -> __m256i {
    _mm256_sub_epi32(_mm256_add_epi32(code, code), _mm256_castps_si256(mask))
}
