//! AVX2 registers: eight lanes of 32 bits, 32 bytes, and eight f64 in two registers.

use core::arch::x86_64::*;
// Names under which `registers!`, `doubles!` and `bytes!` call single instructions.
use core::arch::x86_64::{
    _mm256_and_si256 as and, _mm256_castps_si256 as bits, _mm256_castsi256_ps as from_bits,
    _mm256_cvtepi32_ps as to_floats, _mm256_fmadd_pd as mul_add, _mm256_max_epu32 as max_unsigned,
    _mm256_max_pd as greater_f64, _mm256_or_si256 as or, _mm256_set1_epi8 as splat_byte,
    _mm256_set1_epi32 as splat_integer,
};

use bitgrain_isa::avx2;

use super::levels::nearest_level;
use super::memory::{load_bytes, load_eight_words, load_f32, store_bytes, store_eight_words, store_f32};
use super::transpose::transpose;
use crate::generic::registers::{
    Bytes, Doubles, Integers, Registers, bytes, calls, doubles, operators, proven, registers,
};
use crate::lanes::{Isa, Lanes, Mask, ROUNDER};

/// Proof that the CPU has AVX2: [`Avx2::new`] is the only constructor.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// Eight f32. Only an [`Avx2`] creates one, so it is the same proof, as are the types below.
#[derive(Clone, Copy)]
pub(crate) struct Eight(pub(super) __m256);

/// Eight 32-bit integers.
#[derive(Clone, Copy)]
pub(crate) struct EightIntegers(pub(super) __m256i);

/// One boolean per lane.
#[derive(Clone, Copy)]
pub(crate) struct EightBools(__m256);

/// Four f64.
#[derive(Clone, Copy)]
pub(crate) struct Part(__m256d);

impl Avx2 {
    /// Safe to call only where the target features are enabled.
    #[inline]
    #[avx2]
    pub(super) fn new() -> Self {
        Self(())
    }
}

impl Isa for Avx2 {
    type F = Eight;

    #[inline(always)]
    fn splat(self, value: f32) -> Eight {
        Eight(proven!(_mm256_set1_ps(value)))
    }

    #[inline(always)]
    fn load(self, values: &[f32]) -> Eight {
        self.floats(values.first_chunk().unwrap_or(&[0.0; 8]))
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

    calls!(Self:
        min(other) _mm256_min_ps, max(other) _mm256_max_ps, abs() abs, neg() neg, sqrt() _mm256_sqrt_ps,
        nearest() nearest, low_byte() low_byte, nearest_level() nearest_level);
    calls!(EightBools:
        gt(other) _mm256_cmp_ps::<_CMP_GT_OQ>, le(other) _mm256_cmp_ps::<_CMP_LE_OQ>,
        ne(other) _mm256_cmp_ps::<_CMP_NEQ_UQ>);

    #[inline(always)]
    fn select(mask: EightBools, yes: Self, no: Self) -> Self {
        Self(proven!(_mm256_blendv_ps(no.0, yes.0, mask.0)))
    }

    #[inline(always)]
    fn store(self, out: &mut [f32]) {
        if let Some(out) = out.first_chunk_mut() {
            proven!(store_f32(out, self.0));
        }
    }
}

operators!(Eight: Add add _mm256_add_ps, Sub sub _mm256_sub_ps, Mul mul _mm256_mul_ps, Div div _mm256_div_ps);

impl Mask for EightBools {
    calls!(Self: and(other) _mm256_and_ps, or(other) _mm256_or_ps, not() not);

    #[inline(always)]
    fn any(self) -> bool {
        proven!(_mm256_movemask_ps(self.0)) != 0
    }
}

registers!(Avx2, 8, Eight, EightIntegers, EightBools);
doubles!(Avx2, Part, 2, 4);
bytes!(Avx2, 32, __m256i, __m256i);

operators!(EightIntegers: Add add _mm256_add_epi32, Sub sub _mm256_sub_epi32);

operators!(Part: Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd);

/// Sets all bits of a byte where it is at most the other, via `max`: AVX2 has no unsigned byte comparison.
#[inline]
#[avx2]
fn at_most(values: __m256i, limits: __m256i) -> __m256i {
    _mm256_cmpeq_epi8(_mm256_max_epu8(values, limits), limits)
}

#[inline]
#[avx2]
fn load_prefix_f32(values: &[f32]) -> __m256 {
    let mut padded = [0.0; 8];
    padded[..values.len()].copy_from_slice(values);
    load_f32(&padded)
}

#[inline]
#[avx2]
fn choose(flags: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    _mm256_blendv_epi8(no, yes, flags)
}

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

#[inline]
#[avx2]
fn greater(a: __m256i, b: __m256i) -> __m256 {
    _mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b))
}

#[inline]
#[avx2]
fn equal(a: __m256i, b: __m256i) -> __m256 {
    _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))
}

#[inline]
#[avx2]
fn select(mask: __m256, yes: __m256i, no: __m256i) -> __m256i {
    _mm256_blendv_epi8(no, yes, _mm256_castps_si256(mask))
}

/// Shifts by a constant, which becomes an immediate operand.
#[inline]
#[avx2]
fn shl(values: __m256i, bits: u32) -> __m256i {
    _mm256_sll_epi32(values, _mm_cvtsi32_si128(bits.cast_signed()))
}

#[inline]
#[avx2]
fn shr(values: __m256i, bits: u32) -> __m256i {
    _mm256_srl_epi32(values, _mm_cvtsi32_si128(bits.cast_signed()))
}

#[inline]
#[avx2]
fn halves(values: &[u16; 8]) -> __m256 {
    _mm256_cvtph_ps(load_eight_words(values))
}

#[inline]
#[avx2]
fn put_halves(values: __m256, out: &mut [u16; 8]) {
    store_eight_words(out, _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values));
}

#[inline]
#[avx2]
fn put_words(values: __m256i, out: &mut [u16; 8]) {
    store_eight_words(out, narrowed_words(values));
}

#[inline]
#[avx2]
fn add_unless(flags: __m256i, sums: __m256i, more: __m256i) -> __m256i {
    _mm256_add_epi8(sums, _mm256_andnot_si256(flags, more))
}

#[inline]
#[avx2]
fn largest(lanes: __m256i) -> u32 {
    let four = _mm_max_epu32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_max_epu32(four, _mm_shuffle_epi32::<0b0100_1110>(four));
    _mm_cvtsi128_si32(_mm_max_epu32(two, _mm_shuffle_epi32::<0b1011_0001>(two))).cast_unsigned()
}

#[inline]
#[avx2]
fn widened_bytes(bytes: &[u8; 8]) -> __m256i {
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*bytes)))
}

#[inline]
#[avx2]
fn widened_words(words: &[u16; 8]) -> __m256i {
    _mm256_cvtepu16_epi32(load_eight_words(words))
}

#[inline]
#[avx2]
fn narrowed_words(values: __m256i) -> __m128i {
    _mm_packus_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256::<1>(values))
}

#[inline]
#[avx2]
fn put_bytes(values: __m256i, out: &mut [u8; 8]) {
    let words = narrowed_words(values);
    *out = _mm_cvtsi128_si64(_mm_packus_epi16(words, words)).to_le_bytes();
}

/// Rounds like the reference; NaN gives 0.
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
    // `packs` leaves quarters in the order first, second, first, second; the permute restores it before packing to
    // bytes.
    let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(first, second));
    let bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
    let mut out = [0; 16];
    // SAFETY: `out` has 16 writable bytes; `storeu` needs no alignment.
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

#[inline]
#[avx2]
fn load_f64(values: &[f64; 4]) -> __m256d {
    // SAFETY: `values` has 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_pd(values.as_ptr()) }
}

#[inline]
#[avx2]
fn store_f64(out: &mut [f64; 4], values: __m256d) {
    // SAFETY: `out` has 32 writable bytes; `storeu` needs no alignment.
    unsafe { _mm256_storeu_pd(out.as_mut_ptr(), values) }
}

#[inline]
#[avx2]
fn widened(values: &[f32; 4]) -> __m256d {
    // SAFETY: `values` has 16 readable bytes; `loadu` needs no alignment.
    _mm256_cvtps_pd(unsafe { _mm_loadu_ps(values.as_ptr()) })
}

#[inline]
#[avx2]
fn magnitudes(values: __m256d) -> __m256d {
    _mm256_andnot_pd(_mm256_set1_pd(-0.0), values)
}

/// Returns whether no exponent has all bits set, as in NaN and infinities.
#[inline]
#[avx2]
fn all_finite(x: &[f32; 8], y: &[f32; 8]) -> bool {
    let exponent = _mm256_set1_epi32(0x7F80_0000);
    let odd = |v: __m256| _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_castps_si256(v), exponent), exponent);
    let either = _mm256_or_si256(odd(load_f32(x)), odd(load_f32(y)));
    _mm256_testz_si256(either, either) == 1
}
