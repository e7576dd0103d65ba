//! Scales and minima of sixteen blocks: in half precision, and where a block can take its own from.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::x86_64::avx512::lanes::store_f32;

/// One number for each of sixteen blocks.
pub(super) struct Each([f32; 16]);

impl Each {
    #[inline]
    #[avx512]
    pub(super) fn new(numbers: __m512) -> Self {
        let mut each = [0.0; 16];
        store_f32(&mut each, numbers);
        Self(each)
    }

    /// `1 / scale`, or 0 for a scale of 0.
    #[inline]
    #[avx512]
    pub(super) fn inverse(scales: __m512) -> Self {
        let some = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(scales, _mm512_setzero_ps());
        Self::new(_mm512_maskz_div_ps(some, _mm512_set1_ps(1.0), scales))
    }

    /// The number of block `i` in every lane.
    #[inline]
    #[avx512]
    pub(super) fn of(&self, i: usize) -> __m512 {
        _mm512_set1_ps(self.0[i])
    }
}

/// One number for each of sixteen blocks, as it is stored.
pub(super) struct Halves([u16; 16]);

impl Halves {
    #[inline]
    #[avx512]
    pub(super) fn new(numbers: __m512) -> Self {
        let mut halves = [0; 16];
        let rounded = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(numbers);
        // SAFETY: `halves` is `[u16; 16]`, 32 writable bytes; `storeu` needs no alignment.
        unsafe { _mm256_storeu_si256(halves.as_mut_ptr().cast(), rounded) };
        Self(halves)
    }

    /// The bytes of block `i`.
    #[inline]
    pub(super) fn of(&self, i: usize) -> [u8; 2] {
        self.0[i].to_le_bytes()
    }
}
