//! Products of planes and tiles: eight rows, half a strip, in a register.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::{Avx2, Eight, EightIntegers};
use super::memory::{load_bytes, load_half};
use crate::generic::planes::{Strip, StripProducts, plane_kernels};
use crate::generic::registers::proven;
use crate::product::CodeLine;
use crate::scalar::elements::TWO_32;
use crate::x86_64::prefetch::{prefetch_at, prefetch_strip};

plane_kernels!(avx2, Avx2, Avx2, 8);

/// 32 bytes of codes.
#[derive(Clone, Copy)]
pub(crate) struct Half(__m256i);

/// Sums of products in 16-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct Words(__m256i);

impl Strip<8> for Avx2 {
    type Codes = Half;

    const ROWS: usize = 4;
    const IS_SIGNED: bool = true;

    /// A 16-bit lane adds two products of at most `127 * most` per four columns.
    #[inline(always)]
    fn run(most: u32) -> usize {
        match most {
            0..=15 => 8,
            16..=31 => 4,
            32..=63 => 2,
            _ => 1,
        }
    }

    #[inline(always)]
    fn line(self, line: &CodeLine, part: usize) -> Half {
        Half(proven!(load_bytes(&line.0.as_chunks().0[part])))
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
    fn weights_of_words(self, words: &[i32; 8], zeros: &[f64; 8], scales: &[f64; 8]) -> Eight {
        Eight(proven!(weights_of_words(words, zeros, scales)))
    }

    #[inline(always)]
    fn weights_of_pairs(self, words: [&[i32; 8]; 2], zeros: [&[f64; 8]; 2], scales: &[f64; 8]) -> Eight {
        Eight(proven!(weights_of_pairs(words, zeros, scales)))
    }

    #[inline(always)]
    fn weights_of_doubles(self, values: &[f64; 8]) -> Eight {
        Eight(proven!(weights_of_doubles(values)))
    }

    #[inline(always)]
    fn field(self, codes: Half, shift: u32, bits: u32) -> Half {
        Half(proven!(field(codes.0, shift, bits)))
    }

    #[inline(always)]
    fn join(self, low: Half, high: Half, shift: u32) -> Half {
        Half(proven!(join(low.0, high.0, shift)))
    }

    #[inline(always)]
    fn table(self, table: &[u8; 16]) -> Half {
        Half(proven!(_mm256_broadcastsi128_si256(load_half(table))))
    }

    #[inline(always)]
    fn lookup(self, table: Half, codes: Half) -> Half {
        Half(proven!(_mm256_shuffle_epi8(table.0, codes.0)))
    }

    #[inline(always)]
    fn fused_strip(self, a: Eight, b: Eight, c: Eight) -> Eight {
        Eight(proven!(_mm256_fmadd_ps(a.0, b.0, c.0)))
    }
}

impl StripProducts<8, Self> for Avx2 {
    type Partial = Words;

    #[inline(always)]
    fn none(self) -> Words {
        Words(proven!(_mm256_setzero_si256()))
    }

    #[inline(always)]
    fn add(self, sums: Words, codes: Half, four: i32) -> Words {
        Words(proven!(_mm256_add_epi16(sums.0, _mm256_maddubs_epi16(codes.0, _mm256_set1_epi32(four)))))
    }

    #[inline(always)]
    fn add_high(self, _: Self, sums: Words, codes: Half, four: i32) -> Words {
        Words(proven!(add_high(sums.0, codes.0, four)))
    }

    #[inline(always)]
    fn widened(self, sums: Words) -> EightIntegers {
        EightIntegers(proven!(_mm256_madd_epi16(sums.0, _mm256_set1_epi16(1))))
    }
}

#[inline]
#[avx2]
fn field(codes: __m256i, shift: u32, bits: u32) -> __m256i {
    let mask = _mm256_set1_epi8((u8::MAX >> (8 - bits)).cast_signed());
    _mm256_and_si256(_mm256_srl_epi16(codes, _mm_cvtsi32_si128(shift.cast_signed())), mask)
}

#[inline]
#[avx2]
fn join(low: __m256i, high: __m256i, shift: u32) -> __m256i {
    // The upper bits of a 16-bit lane's bytes are 0, so no bit moves to the next byte.
    _mm256_or_si256(low, _mm256_sll_epi16(high, _mm_cvtsi32_si128(shift.cast_signed())))
}

/// Adds the products of codes minus 128: the sign is moved to the activations, because `maddubs` needs one unsigned
/// factor. Two products of at most 128 * 127 fit 16 bits.
#[inline]
#[avx2]
fn add_high(sums: __m256i, codes: __m256i, four: i32) -> __m256i {
    let signed = _mm256_xor_si256(codes, _mm256_set1_epi8(i8::MIN));
    let factors = _mm256_sign_epi8(_mm256_set1_epi32(four), signed);
    _mm256_add_epi16(sums, _mm256_maddubs_epi16(_mm256_abs_epi8(signed), factors))
}

/// Returns the distances of four integers from their zero points.
#[inline]
#[avx2]
fn steps(words: &[i32; 8], zeros: &[f64; 8], half: usize) -> __m256d {
    let words = _mm256_cvtepi32_pd(load_four_words(&words.as_chunks().0[half]));
    _mm256_sub_pd(words, load_f64(&zeros.as_chunks().0[half]))
}

/// Rounds eight f64 to f32.
#[inline]
#[avx2]
fn rounded(front: __m256d, back: __m256d) -> __m256 {
    _mm256_set_m128(_mm256_cvtpd_ps(back), _mm256_cvtpd_ps(front))
}

#[inline]
#[avx2]
fn weights_of_words(words: &[i32; 8], zeros: &[f64; 8], scales: &[f64; 8]) -> __m256 {
    let [front, back] = scales.as_chunks().0 else { unreachable!("eight are two groups of four") };
    let front = _mm256_mul_pd(steps(words, zeros, 0), load_f64(front));
    rounded(front, _mm256_mul_pd(steps(words, zeros, 1), load_f64(back)))
}

#[inline]
#[avx2]
fn weights_of_pairs(words: [&[i32; 8]; 2], zeros: [&[f64; 8]; 2], scales: &[f64; 8]) -> __m256 {
    let [front, back] = scales.as_chunks().0 else { unreachable!("eight are two groups of four") };
    // Products with 2^32 are exact, so that fusing does not change the sum.
    let factor = _mm256_set1_pd(TWO_32);
    let sum = _mm256_fmadd_pd(steps(words[0], zeros[0], 0), factor, steps(words[1], zeros[1], 0));
    let other = _mm256_fmadd_pd(steps(words[0], zeros[0], 1), factor, steps(words[1], zeros[1], 1));
    rounded(_mm256_mul_pd(sum, load_f64(front)), _mm256_mul_pd(other, load_f64(back)))
}

#[inline]
#[avx2]
fn weights_of_doubles(values: &[f64; 8]) -> __m256 {
    let [front, back] = values.as_chunks().0 else { unreachable!("eight are two groups of four") };
    rounded(load_f64(front), load_f64(back))
}

#[inline]
#[avx2]
fn load_four_words(words: &[i32; 4]) -> __m128i {
    // SAFETY: the reference covers 16 readable bytes; `loadu` needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

#[inline]
#[avx2]
fn load_f64(values: &[f64; 4]) -> __m256d {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_pd(values.as_ptr()) }
}
