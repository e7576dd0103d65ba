//! Scales and minima of eight blocks: in half precision, and where a block can take its own from.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use crate::x86_64::avx2::lanes::{store_eight_words, store_f32};

/// One number for each of eight blocks.
pub(super) struct Each([f32; 8]);

impl Each {
    #[inline]
    #[avx2]
    pub(super) fn new(numbers: __m256) -> Self {
        let mut each = [0.0; 8];
        store_f32(&mut each, numbers);
        Self(each)
    }

    /// `1 / scale`, or 0 for a scale of 0.
    #[inline]
    #[avx2]
    pub(super) fn inverse(scales: __m256) -> Self {
        let some = _mm256_cmp_ps::<_CMP_NEQ_UQ>(scales, _mm256_setzero_ps());
        Self::new(_mm256_and_ps(some, _mm256_div_ps(_mm256_set1_ps(1.0), scales)))
    }

    /// The number of block `i` in every lane.
    #[inline]
    #[avx2]
    pub(super) fn of(&self, i: usize) -> __m256 {
        _mm256_set1_ps(self.0[i])
    }
}

/// One number for each of eight blocks, as it is stored.
pub(super) struct Halves([u16; 8]);

impl Halves {
    #[inline]
    #[avx2]
    pub(super) fn new(numbers: __m256) -> Self {
        let mut halves = [0; 8];
        store_eight_words(&mut halves, _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers));
        Self(halves)
    }

    /// The bytes of block `i`.
    #[inline]
    pub(super) fn of(&self, i: usize) -> [u8; 2] {
        self.0[i].to_le_bytes()
    }
}
