//! Loads and stores of whole registers, from references that prove the memory is there.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

#[inline]
#[avx2]
pub(super) fn load_f32(values: &[f32; 8]) -> __m256 {
    // SAFETY: 32 readable bytes behind the reference; `loadu` needs no alignment.
    unsafe { _mm256_loadu_ps(values.as_ptr()) }
}

#[inline]
#[avx2]
pub(super) fn store_f32(out: &mut [f32; 8], values: __m256) {
    // SAFETY: 32 writable bytes behind the reference; `storeu` needs no alignment.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), values) }
}

#[inline]
#[avx2]
pub(super) fn load_bytes(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: 32 readable bytes behind the reference; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn store_bytes(out: &mut [u8; 32], bytes: __m256i) {
    // SAFETY: 32 writable bytes behind the reference; `storeu` needs no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[avx2]
pub(super) fn load_half(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 readable bytes behind the reference; `loadu` needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn store_half(out: &mut [u8; 16], bytes: __m128i) {
    // SAFETY: 16 writable bytes behind the reference; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), bytes) }
}

#[inline]
#[avx2]
pub(super) fn load_words(words: &[u16; 16]) -> __m256i {
    // SAFETY: 32 readable bytes behind the reference; `loadu` needs no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn load_eight_words(words: &[u16; 8]) -> __m128i {
    // SAFETY: 16 readable bytes behind the reference; `loadu` needs no alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

#[inline]
#[avx2]
pub(super) fn store_eight_words(out: &mut [u16; 8], words: __m128i) {
    // SAFETY: 16 writable bytes behind the reference; `storeu` needs no alignment.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), words) }
}

/// The 16 bytes at an offset of an array that holds them.
#[inline]
pub(super) fn sixteen<const N: usize>(bytes: &[u8; N], at: usize) -> &[u8; 16] {
    match bytes[at..].first_chunk() {
        Some(half) => half,
        None => unreachable!("offset {at} leaves no 16 of {N} bytes"),
    }
}

/// The 16 writable bytes at an offset of an array that holds them.
#[inline]
pub(super) fn sixteen_mut<const N: usize>(bytes: &mut [u8; N], at: usize) -> &mut [u8; 16] {
    match bytes[at..].first_chunk_mut() {
        Some(half) => half,
        None => unreachable!("offset {at} leaves no 16 of {N} bytes"),
    }
}
