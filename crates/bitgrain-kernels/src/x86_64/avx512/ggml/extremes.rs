//! Extremes of sixteen blocks at once, reduced together by transposing as they shrink.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::generic::ggml::extremes::Reduce;
use crate::generic::registers::proven;
use crate::x86_64::avx512::lanes::{Avx512, Sixteen};
use crate::x86_64::avx512::memory::load_f32;

/// Blocks encoded together, one per lane.
pub(super) type Blocks = [[f32; 32]; 16];

impl Reduce<16> for Avx512 {
    #[inline(always)]
    fn highest(self, blocks: &Blocks, least: Sixteen) -> Sixteen {
        Sixteen(proven!(highest(blocks, least.0)))
    }

    #[inline(always)]
    fn lowest(self, blocks: &Blocks, most: Sixteen) -> Sixteen {
        Sixteen(proven!(lowest(blocks, most.0)))
    }
}

// Both instructions return their second operand for NaN and for zeros of different signs.
#[inline]
#[avx512]
fn highest(blocks: &Blocks, least: __m512) -> __m512 {
    reduce(blocks, |x| x, least, |a, b| _mm512_max_ps(a, b))
}

#[inline]
#[avx512]
fn lowest(blocks: &Blocks, most: __m512) -> __m512 {
    reduce(blocks, |x| x, most, |a, b| _mm512_min_ps(a, b))
}

/// Returns each block's largest magnitude as bits; NaN sorts above infinity.
#[inline]
#[avx512]
pub(super) fn magnitudes(blocks: &Blocks) -> __m512 {
    let higher = |a, b| _mm512_castsi512_ps(_mm512_max_epu32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
    reduce(blocks, |x| _mm512_abs_ps(x), _mm512_setzero_ps(), higher)
}

/// Reduces each block, converted by `prepare`, together with `least` to one lane by `pick`. Block `i` ends in lane `i`.
#[inline]
#[avx512]
fn reduce(
    blocks: &Blocks,
    prepare: impl Fn(__m512) -> __m512,
    least: __m512,
    pick: impl Fn(__m512, __m512) -> __m512,
) -> __m512 {
    let [a, b, c, d] = core::array::from_fn(|four| {
        let [a, b, c, d] = core::array::from_fn(|i| {
            let halves = blocks[4 * four + i].as_chunks::<16>().0;
            // If one operand may be NaN, the other is not and comes second, because `pick` returns the second for NaN.
            pick(prepare(load_f32(&halves[0])), pick(prepare(load_f32(&halves[1])), least))
        });
        let ab = pick(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let cd = pick(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
        let (ab, cd) = (_mm512_castps_pd(ab), _mm512_castps_pd(cd));
        let even = _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd));
        pick(even, _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)))
    });
    // Each register now holds four blocks in each of its four 128-bit lanes.
    const LOW: i32 = 0b01_00_01_00;
    const HIGH: i32 = 0b11_10_11_10;
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let ab = pick(_mm512_shuffle_f32x4::<LOW>(a, b), _mm512_shuffle_f32x4::<HIGH>(a, b));
    let cd = pick(_mm512_shuffle_f32x4::<LOW>(c, d), _mm512_shuffle_f32x4::<HIGH>(c, d));
    pick(_mm512_shuffle_f32x4::<EVEN>(ab, cd), _mm512_shuffle_f32x4::<ODD>(ab, cd))
}
