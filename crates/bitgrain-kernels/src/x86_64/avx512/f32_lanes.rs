//! Sixteen blocks side by side: an f32 of each in a register.

use core::arch::x86_64::*;
use core::ops::{Add, Div, Mul, Sub};

use bitgrain_isa::avx512;

use super::lanes::{load_f32, store_f32};
use super::levels::nearest_level;
use super::transpose::transpose;
use crate::ggml::search::lanes::{Isa, Lanes, Mask, ROUNDER};

/// Proof that the CPU has AVX-512: [`Avx512::new`] is the only way to one.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// Sixteen lanes. Comes from an [`Avx512`] only, so it is the same proof.
#[derive(Clone, Copy)]
pub(crate) struct Sixteen(__m512);

/// A yes or no for each of sixteen lanes.
#[derive(Clone, Copy)]
pub(crate) struct SixteenBools(__mmask16);

impl Avx512 {
    /// Safe to call where the features are known to be there, and nowhere else.
    #[inline]
    #[avx512]
    pub(super) fn new() -> Self {
        Self(())
    }
}

/// Calls a function that needs the features from one that cannot name them, because it must inline into any caller.
macro_rules! proven {
    ($call:expr) => {
        // SAFETY: `self`, or an argument, is a value that only `Avx512::new` leads to: the CPU has the features.
        unsafe { $call }
    };
}

impl Isa for Avx512 {
    type F = Sixteen;

    #[inline(always)]
    fn splat(self, value: f32) -> Sixteen {
        Sixteen(proven!(_mm512_set1_ps(value)))
    }

    #[inline(always)]
    fn load(self, values: &[f32]) -> Sixteen {
        let values = values.first_chunk().unwrap_or(&[0.0; 16]);
        Sixteen(proven!(load_f32(values)))
    }

    #[inline(always)]
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Sixteen]) {
        for (step, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let mut square = [self.splat(0.0).0; 16];
            for (line, row) in square.iter_mut().zip(rows) {
                *line = self.load(&row[at + 16 * step..]).0;
            }
            for (out, column) in out.iter_mut().zip(proven!(transpose(square))) {
                *out = Sixteen(column);
            }
        }
    }

    #[inline(always)]
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
        proven!(codes(values, plus, step, low, high))
    }
}

impl Lanes for Sixteen {
    type Mask = SixteenBools;

    const LANES: usize = 16;

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(proven!(_mm512_min_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(proven!(_mm512_max_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(proven!(_mm512_abs_ps(self.0)))
    }

    #[inline(always)]
    fn neg(self) -> Self {
        Self(proven!(neg(self.0)))
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(proven!(_mm512_sqrt_ps(self.0)))
    }

    #[inline(always)]
    fn gt(self, other: Self) -> SixteenBools {
        SixteenBools(proven!(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0)))
    }

    #[inline(always)]
    fn le(self, other: Self) -> SixteenBools {
        SixteenBools(proven!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0)))
    }

    #[inline(always)]
    fn ne(self, other: Self) -> SixteenBools {
        SixteenBools(proven!(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(self.0, other.0)))
    }

    #[inline(always)]
    fn select(mask: SixteenBools, yes: Self, no: Self) -> Self {
        Self(proven!(_mm512_mask_blend_ps(mask.0, no.0, yes.0)))
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

impl Mask for SixteenBools {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.0 != 0
    }
}

/// The four operations, an instruction each.
macro_rules! instruction {
    ($($trait:ident $method:ident $intrinsic:ident),*) => {$(
        impl $trait for Sixteen {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(proven!($intrinsic(self.0, other.0)))
            }
        }
    )*};
}

instruction!(Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);

#[inline]
#[avx512]
fn neg(values: __m512) -> __m512 {
    _mm512_xor_ps(values, _mm512_set1_ps(-0.0))
}

/// The reference's rounding; a NaN gives 0.
#[inline]
#[avx512]
fn integers(values: __m512) -> __m512i {
    let numbers = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(values, values);
    let bits = _mm512_castps_si512(_mm512_add_ps(values, _mm512_set1_ps(ROUNDER)));
    let low = _mm512_and_si512(bits, _mm512_set1_epi32(0x007F_FFFF));
    _mm512_maskz_sub_epi32(numbers, low, _mm512_set1_epi32(0x0040_0000))
}

#[inline]
#[avx512]
fn nearest(values: __m512) -> __m512 {
    _mm512_cvtepi32_ps(integers(values))
}

#[inline]
#[avx512]
fn low_byte(values: __m512) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_cvttps_epi32(values), _mm512_set1_epi32(0xFF)))
}

#[inline]
#[avx512]
fn codes(values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
    let scaled = _mm512_div_ps(_mm512_add_ps(load_f32(values), _mm512_set1_ps(plus)), _mm512_set1_ps(step));
    let (low, high) = (_mm512_set1_epi32(low), _mm512_set1_epi32(high));
    let kept = _mm512_max_epi32(_mm512_min_epi32(integers(scaled), high), low);
    let bytes = _mm512_cvtepi32_epi8(_mm512_sub_epi32(kept, low));
    let mut out = [0; 16];
    // SAFETY: 16 writable bytes behind `out`; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), bytes) };
    out
}
