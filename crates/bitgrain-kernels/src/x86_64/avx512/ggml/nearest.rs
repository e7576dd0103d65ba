//! Rounding of quotients to the nearest integer, halves away from zero, as in `layout::rounding`.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::x86_64::avx512::memory::load_f32;

/// Returns whether all magnitudes are zero or large enough for normal scales and inverses. False for infinities and
/// NaN.
#[inline]
#[avx512]
pub(super) fn all_ordinary(magnitudes: __m512) -> bool {
    let finite = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(magnitudes, _mm512_set1_ps(f32::INFINITY));
    let large = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(magnitudes, _mm512_set1_ps(1e-30));
    let zero = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(magnitudes, _mm512_setzero_ps());
    finite & (large | zero) == u16::MAX
}

/// Computes the codes of 32 values.
#[inline]
#[avx512]
pub(super) fn codes(values: &[f32; 32], inverse: __m512) -> [__m512i; 2] {
    let halves = values.as_chunks::<16>().0;
    [0, 1].map(|i| {
        let steps = _mm512_mul_ps(load_f32(&halves[i]), inverse);
        let sign = _mm512_and_ps(steps, _mm512_set1_ps(-0.0));
        // The largest f32 below one half, with the sign of the value: see `layout::rounding`.
        let almost_half = _mm512_or_ps(sign, _mm512_set1_ps(0.499_999_97));
        _mm512_cvttps_epi32(_mm512_add_ps(steps, almost_half))
    })
}

/// Narrows 64 codes to bytes.
#[inline]
#[avx512]
pub(super) fn narrow([a, b, c, d]: [__m512i; 4]) -> __m512i {
    let bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    // Packs work within 128-bit lanes: dword `4 * lane + register` belongs at `4 * register + lane`.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_permutexvar_epi32(order, bytes)
}
