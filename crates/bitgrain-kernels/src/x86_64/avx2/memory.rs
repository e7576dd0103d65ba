//! Loads and stores of whole registers, through references that guarantee the memory.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

#[inline]
#[avx2]
pub(super) fn load_f32(values: &[f32; 8]) -> __m256 {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_ps(values.as_ptr()) }
}

#[inline]
#[avx2]
pub(super) fn store_f32(out: &mut [f32; 8], values: __m256) {
    // SAFETY: the reference covers 32 writable bytes; `storeu` needs no alignment.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), values) }
}

#[inline]
#[avx2]
pub(super) fn load_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn store_bytes(out: &mut [u8; 32], bytes: __m256i) {
    // SAFETY: the reference covers 32 writable bytes; `storeu` needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[avx2]
pub(super) fn load_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: the reference covers 16 readable bytes; `loadu` needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn store_half(out: &mut [u8; 16], bytes: __m128i) {
    // SAFETY: the reference covers 16 writable bytes; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[avx2]
pub(super) fn load_words(words: &[u16; 16]) -> __m256i {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn load_eight_words(words: &[u16; 8]) -> __m128i {
    // SAFETY: the reference covers 16 readable bytes; `loadu` needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn store_eight_words(out: &mut [u16; 8], words: __m128i) {
    // SAFETY: the reference covers 16 writable bytes; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), words) }
}

/// Returns the 16 bytes at an offset of an array.
#[inline]
pub(super) fn sixteen<const N: usize>(bytes: &[u8; N], at: usize) -> &[u8; 16] {
    match bytes[at..].first_chunk() {
        Some(half) => half,
        None => unreachable!("offset {at} leaves fewer than 16 of {N} bytes"),
    }
}

/// Returns the 16 mutable bytes at an offset of an array.
#[inline]
pub(super) fn sixteen_mut<const N: usize>(bytes: &mut [u8; N], at: usize) -> &mut [u8; 16] {
    match bytes[at..].first_chunk_mut() {
        Some(half) => half,
        None => unreachable!("offset {at} leaves fewer than 16 of {N} bytes"),
    }
}
