//! Decoding of 4- and 5-bit codes: a block has only 16 or 32 distinct values, and permutes look them up in a register.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::ggml::layout::{iq4_nl, mxfp4};
use crate::x86_64::avx512::memory::{load_f32, load_quarter, store_f32};
use crate::x86_64::prefetch::prefetch_output;

#[avx512]
pub(super) fn decode_q4_0(bytes: &[u8], out: &mut [f32]) {
    let steps = ramp(-8);
    decode_each::<18>(bytes, out, |block| _mm512_mul_ps(half([block[0], block[1]]), steps));
}

#[avx512]
pub(super) fn decode_q4_1(bytes: &[u8], out: &mut [f32]) {
    let steps = ramp(0);
    decode_each::<20>(bytes, out, |block| {
        let (scale, min) = (half([block[0], block[1]]), half([block[2], block[3]]));
        _mm512_add_ps(_mm512_mul_ps(scale, steps), min)
    });
}

#[avx512]
pub(super) fn decode_iq4_nl(bytes: &[u8], out: &mut [f32]) {
    let steps = load_f32(&iq4_nl::TABLE.map(f32::from));
    decode_each::<18>(bytes, out, |block| _mm512_mul_ps(half([block[0], block[1]]), steps));
}

#[avx512]
pub(super) fn decode_mxfp4(bytes: &[u8], out: &mut [f32]) {
    let steps = load_f32(&mxfp4::TABLE.map(f32::from));
    decode_each::<17>(bytes, out, |block| _mm512_mul_ps(_mm512_set1_ps(mxfp4::step(block[0])), steps));
}

#[avx512]
pub(super) fn decode_q5_0(bytes: &[u8], out: &mut [f32]) {
    let steps = [ramp(-16), ramp(0)];
    decode_fifths::<22>(bytes, out, |block| {
        let scale = half([block[0], block[1]]);
        steps.map(|steps| _mm512_mul_ps(scale, steps))
    });
}

#[avx512]
pub(super) fn decode_q5_1(bytes: &[u8], out: &mut [f32]) {
    let steps = [ramp(0), ramp(16)];
    decode_fifths::<24>(bytes, out, |block| {
        let (scale, min) = (half([block[0], block[1]]), half([block[2], block[3]]));
        steps.map(|steps| _mm512_add_ps(_mm512_mul_ps(scale, steps), min))
    });
}

/// Decodes blocks that end with sixteen bytes of codes; `values` computes the sixteen values of a block.
#[inline]
#[avx512]
fn decode_each<const B: usize>(bytes: &[u8], out: &mut [f32], values: impl Fn(&[u8; B]) -> __m512) {
    for (block, out) in bytes.as_chunks::<B>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        prefetch_output(out);
        let Some(pairs) = block.last_chunk() else { continue };
        let values = values(block);
        // The permute uses only the low four bits of a lane, so the nibbles need no mask.
        let pairs = _mm512_cvtepu8_epi32(load_quarter(pairs));
        let [low, high] = out.as_chunks_mut::<16>().0 else { continue };
        store_f32(low, _mm512_permutexvar_ps(pairs, values));
        store_f32(high, _mm512_permutexvar_ps(_mm512_srli_epi32::<4>(pairs), values));
    }
}

/// Decodes blocks that end with 32 fifth bits and sixteen bytes of nibbles; `values` computes the values of codes
/// without and with the fifth bit.
#[inline]
#[avx512]
fn decode_fifths<const B: usize>(bytes: &[u8], out: &mut [f32], values: impl Fn(&[u8; B]) -> [__m512; 2]) {
    for (block, out) in bytes.as_chunks::<B>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        prefetch_output(out);
        let Some([a, b, c, d, pairs @ ..]) = block.last_chunk::<20>() else { continue };
        let fifths = [u16::from_le_bytes([*a, *b]), u16::from_le_bytes([*c, *d])];
        let [without, with] = values(block);
        let pairs = _mm512_cvtepu8_epi32(load_quarter(pairs));
        let codes = [pairs, _mm512_srli_epi32::<4>(pairs)];
        for ((codes, fifths), out) in codes.into_iter().zip(fifths).zip(out.as_chunks_mut::<16>().0) {
            let values = _mm512_permutexvar_ps(codes, without);
            store_f32(out, _mm512_mask_permutexvar_ps(values, fifths, codes, with));
        }
    }
}

/// Returns a half-precision number in every lane.
#[inline]
#[avx512]
pub(super) fn half(bytes: [u8; 2]) -> __m512 {
    _mm512_cvtph_ps(_mm256_set1_epi16(i16::from_le_bytes(bytes)))
}

/// Returns sixteen consecutive integers.
#[inline]
#[avx512]
fn ramp(first: i8) -> __m512 {
    let count = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_cvtepi32_ps(_mm512_add_epi32(count, _mm512_set1_epi32(first.into())))
}
