//! Extremes of sixteen blocks at once, reduced together by transposing as they shrink.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::ggml::layout;
use crate::x86_64::avx512::lanes::{load_f32, store_f32};

/// Blocks that are encoded together: one to a lane.
pub(super) type Sixteen = [[f32; 32]; 16];

/// Each block's value of largest magnitude, the first of equals, NaN passed over.
#[inline]
#[avx512]
pub(super) fn largest(blocks: &Sixteen) -> __m512 {
    // Both instructions return their second operand for NaN and for zeros of different signs.
    let zero = _mm512_setzero_ps();
    let higher = |a, b| _mm512_max_ps(a, b);
    let lower = |a, b| _mm512_min_ps(a, b);
    let top = reduce(blocks, |x| x, zero, higher);
    let bottom = reduce(blocks, |x| x, zero, lower);
    let below = _mm512_sub_ps(zero, bottom);
    let mut largest = _mm512_mask_mov_ps(bottom, _mm512_cmp_ps_mask::<_CMP_GT_OQ>(top, below), top);
    let tied = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(top, below) & _mm512_cmp_ps_mask::<_CMP_NEQ_OQ>(top, zero);
    if tied != 0 {
        largest = settle(blocks, largest, tied);
    }
    largest
}

/// Each block's minimum and maximum, NaN passed over; of zeros of both signs, the first is the minimum.
#[inline]
#[avx512]
pub(super) fn ranges(blocks: &Sixteen) -> [__m512; 2] {
    let min = reduce(blocks, |x| x, _mm512_set1_ps(f32::MAX), |a, b| _mm512_min_ps(a, b));
    let max = reduce(blocks, |x| x, _mm512_set1_ps(f32::MIN), |a, b| _mm512_max_ps(a, b));
    let zeros = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(min, _mm512_setzero_ps());
    if zeros != 0 { settle_zeros(blocks, [min, max], zeros) } else { [min, max] }
}

/// Replaces the ranges of the blocks whose minimum is a zero of unknown sign.
#[cold]
#[inline(never)]
#[avx512]
fn settle_zeros(blocks: &Sixteen, ranges: [__m512; 2], zeros: __mmask16) -> [__m512; 2] {
    let mut values = [[0.0; 16]; 2];
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
#[avx512]
fn settle(blocks: &Sixteen, largest: __m512, tied: __mmask16) -> __m512 {
    let mut values = [0.0; 16];
    store_f32(&mut values, largest);
    for (i, block) in blocks.iter().enumerate().filter(|(i, _)| tied >> i & 1 != 0) {
        values[i] = layout::largest(block);
    }
    load_f32(&values)
}

/// Each block's largest magnitude as bits; NaN sorts above infinity.
#[inline]
#[avx512]
pub(super) fn magnitudes(blocks: &Sixteen) -> __m512 {
    let higher = |a, b| _mm512_castsi512_ps(_mm512_max_epu32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
    reduce(blocks, |x| _mm512_abs_ps(x), _mm512_setzero_ps(), higher)
}

/// `pick` reduces what `prepare` makes of a block, and `least`, to one lane, which ends in the block's.
#[inline]
#[avx512]
fn reduce(
    blocks: &Sixteen,
    prepare: impl Fn(__m512) -> __m512,
    least: __m512,
    pick: impl Fn(__m512, __m512) -> __m512,
) -> __m512 {
    let [a, b, c, d] = core::array::from_fn(|four| {
        let [a, b, c, d] = core::array::from_fn(|i| {
            let halves = blocks[4 * four + i].as_chunks::<16>().0;
            // Where an operand may be NaN, the other is not, and comes second.
            pick(prepare(load_f32(&halves[0])), pick(prepare(load_f32(&halves[1])), least))
        });
        let ab = pick(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let cd = pick(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
        let (ab, cd) = (_mm512_castps_pd(ab), _mm512_castps_pd(cd));
        let even = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
        pick(even, _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)))
    });
    // Each now holds four blocks in each of its four 128-bit lanes.
    const LOW: i32 = 0b01_00_01_00;
    const HIGH: i32 = 0b11_10_11_10;
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let ab = pick(_mm512_shuffle_f32x4::<LOW>(a, b), _mm512_shuffle_f32x4::<HIGH>(a, b));
    let cd = pick(_mm512_shuffle_f32x4::<LOW>(c, d), _mm512_shuffle_f32x4::<HIGH>(c, d));
    pick(_mm512_shuffle_f32x4::<EVEN>(ab, cd), _mm512_shuffle_f32x4::<ODD>(ab, cd))
}
