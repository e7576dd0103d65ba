//! MXFP4: exponents of sixteen blocks at a time, codes block by block.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::encode_portably;
use super::extremes::magnitudes;
use super::nearest::all_ordinary;
use crate::ggml::layout::mxfp4::{MIDDLES, exponent, step};
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx512::memory::{load_f32, store_f32, store_quarter};
use crate::x86_64::ggml::encode_mxfp4;
use crate::x86_64::prefetch::prefetch_ahead;

#[avx512]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    encode_mxfp4!(16, store_quarter, values, out);
}

/// Counts the midpoints below each magnitude, and adds 8 to negative values beyond the first midpoint.
#[inline]
#[avx512]
fn codes(block: &[f32; 32], step: f32) -> __m128i {
    let middles = MIDDLES.map(|middle| _mm512_set1_ps(middle * step));
    let halves = block.as_chunks::<16>().0;
    let [low, high] = [0, 1].map(|i| {
        let values = load_f32(&halves[i]);
        let magnitudes = _mm512_abs_ps(values);
        let one = _mm512_set1_epi32(1);
        let mut codes = _mm512_setzero_si512();
        for middle in middles {
            let beyond = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(magnitudes, middle);
            codes = _mm512_mask_add_epi32(codes, beyond, codes, one);
        }
        let negative = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(values, _mm512_sub_ps(_mm512_setzero_ps(), middles[0]));
        _mm512_mask_or_epi32(codes, negative, codes, _mm512_set1_epi32(8))
    });
    _mm512_cvtepi32_epi8(_mm512_or_si512(low, _mm512_slli_epi32::<4>(high)))
}
