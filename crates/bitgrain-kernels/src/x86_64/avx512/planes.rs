//! Products of planes and tiles with VNNI: sixteen rows in a register.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::lanes::{Avx512, Sixteen, SixteenIntegers};
use super::memory::{load_bytes, load_quarter};
use crate::generic::planes::{Strip, StripProducts, plane_kernels};
use crate::generic::registers::proven;
use crate::product::CodeLine;
use crate::scalar::elements::TWO_32;
use crate::x86_64::prefetch::{prefetch_at, prefetch_strip};

plane_kernels!(avx512, Avx512, Avx512, 16);

/// 64 bytes of codes, or sums of products in 32-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct Whole(__m512i);

impl Strip<16> for Avx512 {
    type Codes = Whole;

    const ROWS: usize = 8;
    const IS_SIGNED: bool = false;

    #[inline(always)]
    fn run(_: u32) -> usize {
        8
    }

    #[inline(always)]
    fn line(self, line: &CodeLine, _: usize) -> Whole {
        Whole(proven!(load_bytes(&line.0)))
    }

    #[inline(always)]
    fn prefetch(self, line: &CodeLine) {
        proven!(prefetch_strip(core::array::from_ref(line)));
    }

    #[inline(always)]
    fn prefetch_bytes(self, at: *const u8) {
        proven!(prefetch_at(at));
    }

    #[inline(always)]
    fn weights_of_words(self, words: &[i32; 16], zeros: &[f64; 16], scales: &[f64; 16]) -> Sixteen {
        Sixteen(proven!(weights_of_words(words, zeros, scales)))
    }

    #[inline(always)]
    fn weights_of_pairs(self, words: [&[i32; 16]; 2], zeros: [&[f64; 16]; 2], scales: &[f64; 16]) -> Sixteen {
        Sixteen(proven!(weights_of_pairs(words, zeros, scales)))
    }

    #[inline(always)]
    fn weights_of_doubles(self, values: &[f64; 16]) -> Sixteen {
        Sixteen(proven!(weights_of_doubles(values)))
    }

    #[inline(always)]
    fn field(self, codes: Whole, shift: u32, bits: u32) -> Whole {
        Whole(proven!(field(codes.0, shift, bits)))
    }

    #[inline(always)]
    fn join(self, low: Whole, high: Whole, shift: u32) -> Whole {
        Whole(proven!(join(low.0, high.0, shift)))
    }

    #[inline(always)]
    fn table(self, table: &[u8; 16]) -> Whole {
        Whole(proven!(_mm512_broadcast_i32x4(load_quarter(table))))
    }

    #[inline(always)]
    fn lookup(self, table: Whole, codes: Whole) -> Whole {
        Whole(proven!(_mm512_shuffle_epi8(table.0, codes.0)))
    }

    #[inline(always)]
    fn fused_strip(self, a: Sixteen, b: Sixteen, c: Sixteen) -> Sixteen {
        Sixteen(proven!(_mm512_fmadd_ps(a.0, b.0, c.0)))
    }
}

impl StripProducts<16, Self> for Avx512 {
    type Partial = Whole;

    #[inline(always)]
    fn none(self) -> Whole {
        Whole(proven!(_mm512_setzero_si512()))
    }

    #[inline(always)]
    fn add(self, sums: Whole, codes: Whole, four: i32) -> Whole {
        Whole(proven!(_mm512_dpbusd_epi32(sums.0, codes.0, _mm512_set1_epi32(four))))
    }

    #[inline(always)]
    fn add_high(self, _: Self, sums: Whole, codes: Whole, four: i32) -> Whole {
        self.add(sums, codes, four)
    }

    #[inline(always)]
    fn widened(self, sums: Whole) -> SixteenIntegers {
        SixteenIntegers(sums.0)
    }
}

#[inline]
#[avx512]
fn field(codes: __m512i, shift: u32, bits: u32) -> __m512i {
    let mask = _mm512_set1_epi8((u8::MAX >> (8 - bits)).cast_signed());
    _mm512_and_si512(_mm512_srl_epi16(codes, _mm_cvtsi32_si128(shift.cast_signed())), mask)
}

#[inline]
#[avx512]
fn join(low: __m512i, high: __m512i, shift: u32) -> __m512i {
    // The upper bits of a 16-bit lane's bytes are 0, so no bit moves to the next byte.
    _mm512_or_si512(low, _mm512_sll_epi16(high, _mm_cvtsi32_si128(shift.cast_signed())))
}

/// Returns the distances of eight integers from their zero points.
#[inline]
#[avx512]
fn steps(words: &[i32; 16], zeros: &[f64; 16], half: usize) -> __m512d {
    let words = _mm512_cvtepi32_pd(load_eight_words(&words.as_chunks().0[half]));
    _mm512_sub_pd(words, load_f64(&zeros.as_chunks().0[half]))
}

/// Rounds sixteen f64 to f32.
#[inline]
#[avx512]
fn rounded(front: __m512d, back: __m512d) -> __m512 {
    _mm512_insertf32x8::<1>(_mm512_castps256_ps512(_mm512_cvtpd_ps(front)), _mm512_cvtpd_ps(back))
}

#[inline]
#[avx512]
fn weights_of_words(words: &[i32; 16], zeros: &[f64; 16], scales: &[f64; 16]) -> __m512 {
    let [front, back] = scales.as_chunks().0 else { unreachable!("sixteen are two groups of eight") };
    let front = _mm512_mul_pd(steps(words, zeros, 0), load_f64(front));
    rounded(front, _mm512_mul_pd(steps(words, zeros, 1), load_f64(back)))
}

#[inline]
#[avx512]
fn weights_of_pairs(words: [&[i32; 16]; 2], zeros: [&[f64; 16]; 2], scales: &[f64; 16]) -> __m512 {
    let [front, back] = scales.as_chunks().0 else { unreachable!("sixteen are two groups of eight") };
    // Products with 2^32 are exact, so that fusing does not change the sum.
    let factor = _mm512_set1_pd(TWO_32);
    let sum = _mm512_fmadd_pd(steps(words[0], zeros[0], 0), factor, steps(words[1], zeros[1], 0));
    let other = _mm512_fmadd_pd(steps(words[0], zeros[0], 1), factor, steps(words[1], zeros[1], 1));
    rounded(_mm512_mul_pd(sum, load_f64(front)), _mm512_mul_pd(other, load_f64(back)))
}

#[inline]
#[avx512]
fn weights_of_doubles(values: &[f64; 16]) -> __m512 {
    let [front, back] = values.as_chunks().0 else { unreachable!("sixteen are two groups of eight") };
    rounded(load_f64(front), load_f64(back))
}

#[inline]
#[avx512]
fn load_eight_words(words: &[i32; 8]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[avx512]
fn load_f64(values: &[f64; 8]) -> __m512d {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_pd(values.as_ptr()) }
}
