//! Rounding of quotients to the nearest integer, halves away from zero, as in `layout::rounding`.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use crate::x86_64::avx2::memory::load_f32;

/// Returns whether all magnitudes are zero or large enough for normal scales and inverses. False for infinities and
/// NaN.
#[inline]
#[avx2]
pub(super) fn all_ordinary(magnitudes: __m256) -> bool {
    let finite = _mm256_cmp_ps::<_CMP_LT_OQ>(magnitudes, _mm256_set1_ps(f32::INFINITY));
    let large = _mm256_cmp_ps::<_CMP_GE_OQ>(magnitudes, _mm256_set1_ps(1e-30));
    let zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(magnitudes, _mm256_setzero_ps());
    _mm256_movemask_ps(_mm256_and_ps(finite, _mm256_or_ps(large, zero))) == 0xFF
}

/// Computes the codes of 32 values.
#[inline]
#[avx2]
pub(super) fn codes(values: &[f32; 32], inverse: __m256) -> [__m256i; 4] {
    let quarters = values.as_chunks::<8>().0;
    [0, 1, 2, 3].map(|i| {
        let steps = _mm256_mul_ps(load_f32(&quarters[i]), inverse);
        let sign = _mm256_and_ps(steps, _mm256_set1_ps(-0.0));
        // The largest f32 below one half, with the sign of the value: see `layout::rounding`.
        let almost_half = _mm256_or_ps(sign, _mm256_set1_ps(0.499_999_97));
        _mm256_cvttps_epi32(_mm256_add_ps(steps, almost_half))
    })
}

/// Narrows 32 codes to bytes.
#[inline]
#[avx2]
pub(super) fn narrow([a, b, c, d]: [__m256i; 4]) -> __m256i {
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    // Packs work within 128-bit lanes: dword `4 * lane + register` belongs at `2 * register + lane`.
    _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
}
