//! Sixteen scales: to half precision and, inverted, to where a block can take its own from.

use core::arch::x86_64::*;

use crate::x86_64::avx512::lanes::store_f32;

/// Scales of sixteen blocks, as they are stored and as they are used.
pub(super) struct Scales {
    halves: [u16; 16],
    inverses: [f32; 16],
}

impl Scales {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
    pub(super) fn new(scales: __m512) -> Self {
        let mut made = Self { halves: [0; 16], inverses: [0.0; 16] };
        let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(scales);
        // SAFETY: `halves` is `[u16; 16]`, 32 writable bytes; `storeu` needs no alignment.
        unsafe { _mm256_storeu_si256(made.halves.as_mut_ptr().cast(), halves) };
        let some = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(scales, _mm512_setzero_ps());
        store_f32(&mut made.inverses, _mm512_maskz_div_ps(some, _mm512_set1_ps(1.0), scales));
        made
    }

    /// The stored bytes of block `i`.
    #[inline]
    pub(super) fn bytes(&self, i: usize) -> [u8; 2] {
        self.halves[i].to_le_bytes()
    }

    /// The inverse of block `i` in every lane.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
    pub(super) fn inverse(&self, i: usize) -> __m512 {
        _mm512_set1_ps(self.inverses[i])
    }
}
