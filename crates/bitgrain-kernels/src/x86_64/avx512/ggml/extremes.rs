//! Extremes of sixteen blocks at once, reduced together by transposing as they shrink.

use core::arch::x86_64::*;

use crate::ggml::layout;
use crate::x86_64::avx512::lanes::{load_f32, store_f32};

/// Blocks that are encoded together: one to a lane.
pub(super) type Sixteen = [[f32; 32]; 16];

/// Each block's value of largest magnitude, the first of equals, NaN passed over.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(super) fn largest(blocks: &Sixteen) -> __m512 {
    // Both instructions return their second operand for NaN and for zeros of different signs.
    let zero = _mm512_setzero_ps();
    let higher = |a, b| _mm512_max_ps(a, b);
    let lower = |a, b| _mm512_min_ps(a, b);
    let top = reduce(blocks, |[x, y]| _mm512_max_ps(x, _mm512_max_ps(y, zero)), higher);
    let bottom = reduce(blocks, |[x, y]| _mm512_min_ps(x, _mm512_min_ps(y, zero)), lower);
    let below = _mm512_sub_ps(zero, bottom);
    let mut largest = _mm512_mask_mov_ps(bottom, _mm512_cmp_ps_mask::<_CMP_GT_OQ>(top, below), top);
    let tied = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(top, below) & _mm512_cmp_ps_mask::<_CMP_NEQ_OQ>(top, zero);
    if tied != 0 {
        largest = settle(blocks, largest, tied);
    }
    largest
}

/// Replaces the largest values of the blocks that have it with both signs.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
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
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(super) fn magnitudes(blocks: &Sixteen) -> __m512 {
    let bits = |x| _mm512_castps_si512(_mm512_abs_ps(x));
    let higher = |a, b| _mm512_castsi512_ps(_mm512_max_epu32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
    reduce(blocks, |[x, y]| _mm512_castsi512_ps(_mm512_max_epu32(bits(x), bits(y))), higher)
}

/// `first` reduces a block to sixteen lanes, `pick` those to one, which ends in the block's lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
fn reduce(blocks: &Sixteen, first: impl Fn([__m512; 2]) -> __m512, pick: impl Fn(__m512, __m512) -> __m512) -> __m512 {
    let [a, b, c, d] = core::array::from_fn(|four| {
        let [a, b, c, d] = core::array::from_fn(|i| {
            let halves = blocks[4 * four + i].as_chunks::<16>().0;
            first([load_f32(&halves[0]), load_f32(&halves[1])])
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
