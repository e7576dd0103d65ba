//! Extremes of eight blocks at once, reduced together by transposing as they shrink.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use crate::ggml::layout;
use crate::x86_64::avx2::lanes::{load_f32, store_f32};

/// Blocks that are encoded together: one to a lane.
pub(super) type Eight = [[f32; 32]; 8];

/// Each block's value of largest magnitude, the first of equals, NaN passed over.
#[inline]
#[avx2]
pub(super) fn largest(blocks: &Eight) -> __m256 {
    // Both instructions return their second operand for NaN and for zeros of different signs.
    let zero = _mm256_setzero_ps();
    let higher = |a, b| _mm256_max_ps(a, b);
    let lower = |a, b| _mm256_min_ps(a, b);
    let top = reduce(blocks, |x| x, zero, higher);
    let bottom = reduce(blocks, |x| x, zero, lower);
    let below = _mm256_sub_ps(zero, bottom);
    let mut largest = _mm256_blendv_ps(bottom, top, _mm256_cmp_ps::<_CMP_GT_OQ>(top, below));
    let equal = _mm256_cmp_ps::<_CMP_EQ_OQ>(top, below);
    let tied = _mm256_movemask_ps(_mm256_and_ps(equal, _mm256_cmp_ps::<_CMP_NEQ_OQ>(top, zero)));
    if tied != 0 {
        largest = settle(blocks, largest, tied);
    }
    largest
}

/// Each block's minimum and maximum, NaN passed over; of zeros of both signs, the first is the minimum.
#[inline]
#[avx2]
pub(super) fn ranges(blocks: &Eight) -> [__m256; 2] {
    let min = reduce(blocks, |x| x, _mm256_set1_ps(f32::MAX), |a, b| _mm256_min_ps(a, b));
    let max = reduce(blocks, |x| x, _mm256_set1_ps(f32::MIN), |a, b| _mm256_max_ps(a, b));
    let zeros = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(min, _mm256_setzero_ps()));
    if zeros != 0 { settle_zeros(blocks, [min, max], zeros) } else { [min, max] }
}

/// Replaces the ranges of the blocks whose minimum is a zero of unknown sign.
#[cold]
#[inline(never)]
#[avx2]
fn settle_zeros(blocks: &Eight, ranges: [__m256; 2], zeros: i32) -> [__m256; 2] {
    let mut values = [[0.0; 8]; 2];
    for (values, range) in values.iter_mut().zip(ranges) {
        store_f32(values, range);
    }
    for (i, block) in blocks.iter().enumerate().filter(|(i, _)| zeros >> i & 1 != 0) {
        (values[0][i], values[1][i]) = layout::range(block);
    }
    [load_f32(&values[0]), load_f32(&values[1])]
}

/// Replaces the largest values of the blocks that have it with both signs.
#[cold]
#[inline(never)]
#[avx2]
fn settle(blocks: &Eight, largest: __m256, tied: i32) -> __m256 {
    let mut values = [0.0; 8];
    store_f32(&mut values, largest);
    for (i, block) in blocks.iter().enumerate().filter(|(i, _)| tied >> i & 1 != 0) {
        values[i] = layout::largest(block);
    }
    load_f32(&values)
}

/// Each block's largest magnitude as bits; NaN sorts above infinity.
#[inline]
#[avx2]
pub(super) fn magnitudes(blocks: &Eight) -> __m256 {
    let higher = |a, b| _mm256_castsi256_ps(_mm256_max_epu32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
    let magnitude = |x| _mm256_andnot_ps(_mm256_set1_ps(-0.0), x);
    reduce(blocks, magnitude, _mm256_setzero_ps(), higher)
}

/// `pick` reduces what `prepare` makes of a block, and `least`, to one lane, which ends in the block's.
#[inline]
#[avx2]
fn reduce(
    blocks: &Eight,
    prepare: impl Fn(__m256) -> __m256,
    least: __m256,
    pick: impl Fn(__m256, __m256) -> __m256,
) -> __m256 {
    let [a, b] = core::array::from_fn(|four| {
        let [a, b, c, d] = core::array::from_fn(|i| {
            let parts = blocks[4 * four + i].as_chunks::<8>().0;
            let [w, x, y, z] = core::array::from_fn(|i| prepare(load_f32(&parts[i])));
            // Where an operand may be NaN, the other is not, and comes second.
            pick(pick(w, pick(x, least)), pick(y, pick(z, least)))
        });
        let ab = pick(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let cd = pick(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        let (ab, cd) = (_mm256_castps_pd(ab), _mm256_castps_pd(cd));
        let even = _mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd));
        pick(even, _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd)))
    });
    // Each now holds four blocks in both of its 128-bit lanes.
    pick(_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b))
}
