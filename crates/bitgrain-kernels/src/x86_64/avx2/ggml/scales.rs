//! Eight scales: to half precision and, inverted, to where a block can take its own from.

use core::arch::x86_64::*;

use crate::x86_64::avx2::lanes::{store_eight_words, store_f32};

/// Scales of eight blocks, as they are stored and as they are used.
pub(super) struct Scales {
    halves: [u16; 8],
    inverses: [f32; 8],
}

impl Scales {
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn new(scales: __m256) -> Self {
        let mut made = Self { halves: [0; 8], inverses: [0.0; 8] };
        store_eight_words(&mut made.halves, _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(scales));
        let some = _mm256_cmp_ps::<_CMP_NEQ_UQ>(scales, _mm256_setzero_ps());
        store_f32(&mut made.inverses, _mm256_and_ps(some, _mm256_div_ps(_mm256_set1_ps(1.0), scales)));
        made
    }

    /// The stored bytes of block `i`.
    #[inline]
    pub(super) fn bytes(&self, i: usize) -> [u8; 2] {
        self.halves[i].to_le_bytes()
    }

    /// The inverse of block `i` in every lane.
    #[inline]
    #[target_feature(enable = "avx2,fma,f16c")]
    pub(super) fn inverse(&self, i: usize) -> __m256 {
        _mm256_set1_ps(self.inverses[i])
    }
}
