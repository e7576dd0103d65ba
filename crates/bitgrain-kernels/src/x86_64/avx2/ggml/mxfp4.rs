//! MXFP4: exponents of eight blocks at a time, codes block by block.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::encode_portably;
use super::extremes::magnitudes;
use super::nearest::all_ordinary;
use crate::ggml::layout::mxfp4::{MIDDLES, exponent, step};
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx2::memory::{load_f32, store_f32, store_half};
use crate::x86_64::ggml::encode_mxfp4;
use crate::x86_64::prefetch::prefetch_ahead;

#[avx2]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    encode_mxfp4!(8, store_half, values, out);
}

/// Counts the midpoints below each magnitude, and adds 8 to negative values beyond the first midpoint.
#[inline]
#[avx2]
fn codes(block: &[f32; 32], step: f32) -> __m128i {
    let middles = MIDDLES.map(|middle| _mm256_set1_ps(middle * step));
    let quarters = block.as_chunks::<8>().0;
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| {
        let values = load_f32(&quarters[i]);
        let magnitudes = _mm256_andnot_ps(_mm256_set1_ps(-0.0), values);
        let mut codes = _mm256_setzero_si256();
        for middle in middles {
            let beyond = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GT_OQ>(magnitudes, middle));
            // A true comparison is -1, so subtracting it counts the midpoint.
            codes = _mm256_sub_epi32(codes, beyond);
        }
        let first = _mm256_sub_ps(_mm256_setzero_ps(), middles[0]);
        let negative = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(values, first));
        _mm256_or_si256(codes, _mm256_and_si256(negative, _mm256_set1_epi32(8)))
    });
    let pairs = [(a, c), (b, d)].map(|(low, high)| _mm256_or_si256(low, _mm256_slli_epi32::<4>(high)));
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi32(pairs[0], pairs[1]));
    _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words))
}
