//! AVX-512 registers: sixteen lanes of 32 bits, 64 bytes, eight f64.

use core::arch::x86_64::*;
// Names under which `registers!`, `doubles!` and `bytes!` call single instructions.
use core::arch::x86_64::{
    _mm512_abs_pd as magnitudes, _mm512_and_si512 as and, _mm512_castps_si512 as bits,
    _mm512_castsi512_ps as from_bits, _mm512_cmpeq_epi32_mask as equal, _mm512_cmpgt_epi32_mask as greater,
    _mm512_cmple_epu8_mask as at_most, _mm512_cvtepi32_ps as to_floats, _mm512_fmadd_pd as mul_add,
    _mm512_max_epu32 as max_unsigned, _mm512_max_pd as greater_f64, _mm512_or_si512 as or,
    _mm512_reduce_max_epu32 as largest, _mm512_set1_epi8 as splat_byte, _mm512_set1_epi32 as splat_integer,
};

use bitgrain_isa::avx512;

use super::levels::nearest_level;
use super::memory::{load_bytes, load_f32, load_prefix_f32, load_quarter, store_bytes, store_f32, store_quarter};
use super::transpose::transpose;
use crate::generic::registers::{
    Bytes, Doubles, Integers, Registers, bytes, calls, doubles, operators, proven, registers,
};
use crate::lanes::{Isa, Lanes, Mask, ROUNDER};

/// Proof that the CPU has AVX-512: [`Avx512::new`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// Sixteen f32. Only an [`Avx512`] creates one, so it is the same proof, as are the types below.
#[derive(Clone, Copy)]
pub(crate) struct Sixteen(pub(super) __m512);

/// Sixteen 32-bit integers.
#[derive(Clone, Copy)]
pub(crate) struct SixteenIntegers(pub(super) __m512i);

/// One boolean per lane.
#[derive(Clone, Copy)]
pub(crate) struct SixteenBools(__mmask16);

/// Eight f64.
#[derive(Clone, Copy)]
pub(crate) struct Part(__m512d);

impl Avx512 {
    /// Safe to call only where the target features are enabled.
    #[inline]
    #[avx512]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl Isa for Avx512 {
    type F = Sixteen;

    #[inline(always)]
    fn splat(self, value: f32) -> Sixteen {
        Sixteen(proven!(_mm512_set1_ps(value)))
    }

    #[inline(always)]
    fn load(self, values: &[f32]) -> Sixteen {
        self.floats(values.first_chunk().unwrap_or(&[0.0; 16]))
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

    calls!(Self:
        min(other) _mm512_min_ps, max(other) _mm512_max_ps, abs() _mm512_abs_ps, neg() neg, sqrt() _mm512_sqrt_ps,
        nearest() nearest, low_byte() low_byte, nearest_level() nearest_level);
    calls!(SixteenBools:
        gt(other) _mm512_cmp_ps_mask::<_CMP_GT_OQ>, le(other) _mm512_cmp_ps_mask::<_CMP_LE_OQ>,
        ne(other) _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>);

    #[inline(always)]
    fn select(mask: SixteenBools, yes: Self, no: Self) -> Self {
        Self(proven!(_mm512_mask_blend_ps(mask.0, no.0, yes.0)))
    }

    #[inline(always)]
    fn store(self, out: &mut [f32]) {
        if let Some(out) = out.first_chunk_mut() {
            proven!(store_f32(out, self.0));
        }
    }
}

operators!(Sixteen: Add add _mm512_add_ps, Sub sub _mm512_sub_ps, Mul mul _mm512_mul_ps, Div div _mm512_div_ps);

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

registers!(Avx512, 16, Sixteen, SixteenIntegers, SixteenBools);
doubles!(Avx512, Part, 1, 8);
bytes!(Avx512, 64, __m512i, __mmask64);

operators!(SixteenIntegers: Add add _mm512_add_epi32, Sub sub _mm512_sub_epi32);

operators!(Part: Add add _mm512_add_pd, Sub sub _mm512_sub_pd, Mul mul _mm512_mul_pd);

/// `vfpclass` categories: quiet and signaling NaN, both infinities.
const NOT_FINITE: i32 = 0x99;

#[inline]
#[avx512]
fn select(mask: __mmask16, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_mask_mov_epi32(no, mask, yes)
}

#[inline]
#[avx512]
fn choose(flags: __mmask64, yes: __m512i, no: __m512i) -> __m512i {
    _mm512_mask_mov_epi8(no, flags, yes)
}

#[inline]
#[avx512]
fn add_unless(flags: __mmask64, sums: __m512i, more: __m512i) -> __m512i {
    _mm512_mask_add_epi8(sums, !flags, sums, more)
}

#[inline]
#[avx512]
fn neg(values: __m512) -> __m512 {
    _mm512_xor_ps(values, _mm512_set1_ps(-0.0))
}

/// Shifts by a constant, which becomes an immediate operand.
#[inline]
#[avx512]
fn shl(values: __m512i, bits: u32) -> __m512i {
    _mm512_sll_epi32(values, _mm_cvtsi32_si128(bits.cast_signed()))
}

#[inline]
#[avx512]
fn shr(values: __m512i, bits: u32) -> __m512i {
    _mm512_srl_epi32(values, _mm_cvtsi32_si128(bits.cast_signed()))
}

#[inline]
#[avx512]
fn load_words(words: &[u16; 16]) -> __m256i {
    // SAFETY: `words` has 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[avx512]
fn store_words(words: __m256i, out: &mut [u16; 16]) {
    // SAFETY: `out` has 32 writable bytes; `storeu` needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), words) }
}

#[inline]
#[avx512]
fn halves(values: &[u16; 16]) -> __m512 {
    _mm512_cvtph_ps(load_words(values))
}

#[inline]
#[avx512]
fn put_halves(values: __m512, out: &mut [u16; 16]) {
    store_words(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values), out);
}

#[inline]
#[avx512]
fn widened_words(words: &[u16; 16]) -> __m512i {
    _mm512_cvtepu16_epi32(load_words(words))
}

#[inline]
#[avx512]
fn put_words(values: __m512i, out: &mut [u16; 16]) {
    store_words(_mm512_cvtepi32_epi16(values), out);
}

#[inline]
#[avx512]
fn widened_bytes(bytes: &[u8; 16]) -> __m512i {
    _mm512_cvtepu8_epi32(load_quarter(bytes))
}

#[inline]
#[avx512]
fn put_bytes(values: __m512i, out: &mut [u8; 16]) {
    store_quarter(out, _mm512_cvtepi32_epi8(values));
}

/// Rounds like the reference; NaN gives 0.
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
    let mut out = [0; 16];
    put_bytes(_mm512_sub_epi32(kept, low), &mut out);
    out
}

#[inline]
#[avx512]
fn load_eight(values: &[f32; 8]) -> __m256 {
    // SAFETY: `values` has 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_ps(values.as_ptr()) }
}

#[inline]
#[avx512]
fn load_f64(values: &[f64; 8]) -> __m512d {
    // SAFETY: `values` has 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_pd(values.as_ptr()) }
}

#[inline]
#[avx512]
fn store_f64(out: &mut [f64; 8], values: __m512d) {
    // SAFETY: `out` has 64 writable bytes; `storeu` needs no alignment.
    unsafe { _mm512_storeu_pd(out.as_mut_ptr(), values) }
}

#[inline]
#[avx512]
fn widened(values: &[f32; 8]) -> __m512d {
    _mm512_cvtps_pd(load_eight(values))
}

#[inline]
#[avx512]
fn all_finite(a: &[f32; 8], b: &[f32; 8]) -> bool {
    let odd = _mm256_fpclass_ps_mask::<NOT_FINITE>(load_eight(a)) | _mm256_fpclass_ps_mask::<NOT_FINITE>(load_eight(b));
    odd == 0
}
