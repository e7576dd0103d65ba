//! Loads and stores of whole registers, through references that guarantee the memory.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::product::{FloatLine, HalfLine};

#[inline]
#[avx512]
pub(super) fn load_f32(values: &[f32; 16]) -> __m512 {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_ps(values.as_ptr()) }
}

#[inline]
#[avx512]
pub(super) fn store_f32(out: &mut [f32; 16], values: __m512) {
    // SAFETY: the reference covers 64 writable bytes; `storeu` needs no alignment.
    unsafe { _mm512_storeu_ps(out.as_mut_ptr(), values) }
}

#[inline]
#[avx512]
pub(in crate::x86_64) fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[avx512]
pub(in crate::x86_64) fn store_bytes(out: &mut [u8; 64], bytes: __m512i) {
    // SAFETY: the reference covers 64 writable bytes; `storeu` needs no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[avx512]
pub(super) fn load_words(words: &[u16; 32]) -> __m512i {
    // SAFETY: the reference covers 64 readable bytes; `loadu` needs no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[avx512]
pub(super) fn load_quarter(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference covers 16 readable bytes; `loadu` needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[avx512]
pub(super) fn store_quarter(out: &mut [u8; 16], bytes: __m128i) {
    // SAFETY: the reference covers 16 writable bytes; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[avx512]
pub(super) fn store_half(out: &mut [u8; 32], bytes: __m256i) {
    // SAFETY: the reference covers 32 writable bytes; `storeu` needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
}

/// Loads a slice of at most 64 bytes, padded with zeros.
#[inline]
#[avx512]
pub(super) fn load_prefix(bytes: &[u8]) -> __m512i {
    // SAFETY: the mask has a bit for each byte of the slice and no other; masked-out lanes are not read.
    unsafe { _mm512_maskz_loadu_epi8(prefix_mask(bytes.len()), bytes.as_ptr().cast()) }
}

/// Stores the low bytes of a register to a slice of at most 64 bytes.
#[inline]
#[avx512]
pub(super) fn store_prefix(out: &mut [u8], bytes: __m512i) {
    // SAFETY: the mask has a bit for each byte of the slice and no other; masked-out lanes are not written.
    unsafe { _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), prefix_mask(out.len()), bytes) }
}

/// Loads a slice of at most 16 values, padded with zeros.
#[inline]
#[avx512]
pub(super) fn load_prefix_f32(values: &[f32]) -> __m512 {
    let mask = u16::MAX.unbounded_shr(16_u32.saturating_sub(len_u32(values.len())));
    // SAFETY: the mask has a bit for each value of the slice and no other; masked-out lanes are not read.
    unsafe { _mm512_maskz_loadu_ps(mask, values.as_ptr()) }
}

/// Returns a bit for each of `len` bytes; all 64 if `len` is larger.
fn prefix_mask(len: usize) -> u64 {
    u64::MAX.unbounded_shr(64_u32.saturating_sub(len_u32(len)))
}

/// Converts a length for a mask. Saturation cannot change a mask, because every length from 64 on gives the same one.
fn len_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Loads a table of 64 bytes.
#[inline]
#[avx512]
pub(super) fn table(bytes: &'static [u8; 64]) -> __m512i {
    load_bytes(bytes)
}

#[inline]
#[avx512]
pub(in crate::x86_64) fn load_line(line: &FloatLine) -> __m512 {
    load_f32(&line.0)
}

#[inline]
#[avx512]
pub(in crate::x86_64) fn store_line(out: &mut FloatLine, values: __m512) {
    store_f32(&mut out.0, values);
}

#[inline]
#[avx512]
pub(in crate::x86_64) fn load_half_line(line: &HalfLine) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(line.0.as_ptr().cast()) }
}
