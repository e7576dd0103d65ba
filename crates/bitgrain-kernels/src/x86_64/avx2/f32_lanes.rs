//! Eight blocks side by side: an f32 of each in a register.

use core::arch::x86_64::*;
use core::ops::{Add, Div, Mul, Sub};

use bitgrain_isa::avx2;

use super::lanes::{load_f32, store_f32};
use super::levels::nearest_level;
use super::transpose::transpose;
use crate::ggml::search::lanes::{Isa, Lanes, Mask, ROUNDER};

/// Proof that the CPU has AVX2: [`Avx2::new`] is the only way to one.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Eight lanes. Comes from an [`Avx2`] only, so it is the same proof.
#[derive(Clone, Copy)]
pub(crate) struct Eight(__m256);

/// A yes or no for each of eight lanes.
#[derive(Clone, Copy)]
pub(crate) struct EightBools(__m256);

impl Avx2 {
    /// Safe to call where the features are known to be there, and nowhere else.
    #[inline]
    #[avx2]
    pub(super) fn new() -> Self {
        Self(())
    }
}

/// Calls a function that needs the features from one that cannot name them, because it must inline into any caller.
macro_rules! proven {
    ($call:expr) => {
        // SAFETY: `self`, or an argument, is a value that only `Avx2::new` leads to: the CPU has the features.
        unsafe { $call }
    };
}

impl Isa for Avx2 {
    type F = Eight;

    #[inline(always)]
    fn splat(self, value: f32) -> Eight {
        Eight(proven!(_mm256_set1_ps(value)))
    }

    #[inline(always)]
    fn load(self, values: &[f32]) -> Eight {
        let values = values.first_chunk().unwrap_or(&[0.0; 8]);
        Eight(proven!(load_f32(values)))
    }

    #[inline(always)]
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Eight]) {
        for (step, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let mut square = [self.splat(0.0).0; 8];
            for (line, row) in square.iter_mut().zip(rows) {
                *line = self.load(&row[at + 8 * step..]).0;
            }
            for (out, column) in out.iter_mut().zip(proven!(transpose(square))) {
                *out = Eight(column);
            }
        }
    }

    #[inline(always)]
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
        proven!(codes(values, plus, step, low, high))
    }
}

impl Lanes for Eight {
    type Mask = EightBools;

    const LANES: usize = 8;

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(proven!(_mm256_min_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(proven!(_mm256_max_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(proven!(abs(self.0)))
    }

    #[inline(always)]
    fn neg(self) -> Self {
        Self(proven!(neg(self.0)))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(proven!(_mm256_sqrt_ps(self.0)))
    }

    #[inline(always)]
    fn gt(self, other: Self) -> EightBools {
        EightBools(proven!(_mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0)))
    }

    #[inline(always)]
    fn le(self, other: Self) -> EightBools {
        EightBools(proven!(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)))
    }

    #[inline(always)]
    fn ne(self, other: Self) -> EightBools {
        EightBools(proven!(_mm256_cmp_ps::<_CMP_NEQ_UQ>(self.0, other.0)))
    }

    #[inline(always)]
    fn select(mask: EightBools, yes: Self, no: Self) -> Self {
        Self(proven!(_mm256_blendv_ps(no.0, yes.0, mask.0)))
    }

    #[inline(always)]
    fn nearest(self) -> Self {
        Self(proven!(nearest(self.0)))
    }

    #[inline(always)]
    fn low_byte(self) -> Self {
        Self(proven!(low_byte(self.0)))
    }

    #[inline(always)]
    fn nearest_level(self) -> Self {
        Self(proven!(nearest_level(self.0)))
    }

    #[inline(always)]
    fn store(self, out: &mut [f32]) {
        if let Some(out) = out.first_chunk_mut() {
            proven!(store_f32(out, self.0));
        }
    }
}

impl Mask for EightBools {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(proven!(_mm256_and_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(proven!(_mm256_or_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(proven!(not(self.0)))
    }

    #[inline(always)]
    fn any(self) -> bool {
        proven!(_mm256_movemask_ps(self.0)) != 0
    }
}

/// The four operations, an instruction each.
macro_rules! instruction {
    ($($trait:ident $method:ident $intrinsic:ident),*) => {$(
        impl $trait for Eight {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(proven!($intrinsic(self.0, other.0)))
            }
        }
    )*};
}

instruction!(Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

#[inline]
#[avx2]
fn abs(values: __m256) -> __m256 {
    _mm256_andnot_ps(_mm256_set1_ps(-0.0), values)
}

#[inline]
#[avx2]
fn neg(values: __m256) -> __m256 {
    _mm256_xor_ps(values, _mm256_set1_ps(-0.0))
}

#[inline]
#[avx2]
fn not(mask: __m256) -> __m256 {
    _mm256_xor_ps(mask, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))
}

/// The reference's rounding; a NaN gives 0.
#[inline]
#[avx2]
fn integers(values: __m256) -> __m256i {
    let numbers = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_ORD_Q>(values, values));
    let bits = _mm256_castps_si256(_mm256_add_ps(values, _mm256_set1_ps(ROUNDER)));
    let low = _mm256_and_si256(bits, _mm256_set1_epi32(0x007F_FFFF));
    _mm256_and_si256(numbers, _mm256_sub_epi32(low, _mm256_set1_epi32(0x0040_0000)))
}

#[inline]
#[avx2]
fn nearest(values: __m256) -> __m256 {
    _mm256_cvtepi32_ps(integers(values))
}

#[inline]
#[avx2]
fn low_byte(values: __m256) -> __m256 {
    _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_cvttps_epi32(values), _mm256_set1_epi32(0xFF)))
}

#[inline]
#[avx2]
fn codes(values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
    let ([first, second], _) = values.as_chunks::<8>() else { return [0; 16] };
    let (first, second) = (codes8(first, plus, step, low, high), codes8(second, plus, step, low, high));
    // Words of both halves, quarters in the order first, second, first, second; then bytes.
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(first, second));
    let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
    let mut out = [0; 16];
    // SAFETY: 16 writable bytes behind `out`; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), bytes) };
    out
}

#[inline]
#[avx2]
fn codes8(values: &[f32; 8], plus: f32, step: f32, low: i32, high: i32) -> __m256i {
    let scaled = _mm256_div_ps(_mm256_add_ps(load_f32(values), _mm256_set1_ps(plus)), _mm256_set1_ps(step));
    let (low, high) = (_mm256_set1_epi32(low), _mm256_set1_epi32(high));
    let kept = _mm256_max_epi32(_mm256_min_epi32(integers(scaled), high), low);
    _mm256_sub_epi32(kept, low)
}
