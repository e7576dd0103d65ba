//! Decoding of 4- and 5-bit codes: a byte shuffle looks up their values, which are then widened and scaled.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use crate::ggml::layout::{iq4_nl, mxfp4};
use crate::x86_64::avx2::memory::{load_half, store_f32};
use crate::x86_64::prefetch::prefetch_output;

#[avx2]
pub(super) fn decode_q4_0(bytes: &[u8], out: &mut [f32]) {
    decode_each::<18>(&ramp(-8), bytes, out, |block| (half([block[0], block[1]]), None, None));
}

#[avx2]
pub(super) fn decode_q4_1(bytes: &[u8], out: &mut [f32]) {
    decode_each::<20>(&ramp(0), bytes, out, |block| {
        (half([block[0], block[1]]), Some(half([block[2], block[3]])), None)
    });
}

#[avx2]
pub(super) fn decode_iq4_nl(bytes: &[u8], out: &mut [f32]) {
    decode_each::<18>(&iq4_nl::TABLE, bytes, out, |block| (half([block[0], block[1]]), None, None));
}

#[avx2]
pub(super) fn decode_mxfp4(bytes: &[u8], out: &mut [f32]) {
    decode_each::<17>(&mxfp4::TABLE, bytes, out, |block| (_mm256_set1_ps(mxfp4::step(block[0])), None, None));
}

#[avx2]
pub(super) fn decode_q5_0(bytes: &[u8], out: &mut [f32]) {
    decode_each::<22>(&ramp(-16), bytes, out, |block| {
        let fifths = i32::from_le_bytes([block[2], block[3], block[4], block[5]]);
        (half([block[0], block[1]]), None, Some(fifths))
    });
}

#[avx2]
pub(super) fn decode_q5_1(bytes: &[u8], out: &mut [f32]) {
    decode_each::<24>(&ramp(0), bytes, out, |block| {
        let fifths = i32::from_le_bytes([block[4], block[5], block[6], block[7]]);
        (half([block[0], block[1]]), Some(half([block[2], block[3]])), Some(fifths))
    });
}

/// Decodes blocks that end with sixteen bytes of codes; `fields` extracts the scale, the minimum and the fifth bits of
/// a block.
#[inline]
#[avx2]
fn decode_each<const B: usize>(
    table: &[i8; 16],
    bytes: &[u8],
    out: &mut [f32],
    fields: impl Fn(&[u8; B]) -> (__m256, Option<__m256>, Option<i32>),
) {
    let table = load_half(&table.map(i8::cast_unsigned));
    let nibble = _mm_set1_epi8(15);
    for (block, out) in bytes.as_chunks::<B>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        prefetch_output(out);
        let Some(pairs) = block.last_chunk() else { continue };
        let pairs = load_half(pairs);
        let codes = [_mm_and_si128(pairs, nibble), _mm_and_si128(_mm_srli_epi16::<4>(pairs), nibble)];
        let (scale, min, fifths) = fields(block);
        for (i, (codes, out)) in codes.into_iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
            let mut steps = _mm_shuffle_epi8(table, codes);
            if let Some(fifths) = fifths {
                steps = _mm_add_epi8(steps, _mm_and_si128(spread(fifths >> (16 * i)), _mm_set1_epi8(16)));
            }
            store_signed(steps, out, |steps| {
                // Multiply, then add: the reference does not fuse, and its bits are part of the contract.
                let values = _mm256_mul_ps(scale, steps);
                min.map_or(values, |min| _mm256_add_ps(values, min))
            });
        }
    }
}

/// Expands the low sixteen bits to bytes of all zeros or all ones.
#[inline]
#[avx2]
fn spread(bits: i32) -> __m128i {
    let source = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let bytes = _mm_shuffle_epi8(_mm_cvtsi32_si128(bits), source);
    // Bit `i` of a byte selects lane `i` of eight.
    let places = _mm_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
    _mm_cmpeq_epi8(_mm_and_si128(bytes, places), places)
}

/// Widens sixteen signed bytes to f32, applies `scaled` and stores the result.
#[inline]
#[avx2]
pub(super) fn store_signed(bytes: __m128i, out: &mut [f32; 16], scaled: impl Fn(__m256) -> __m256) {
    let halves = [bytes, _mm_unpackhi_epi64(bytes, bytes)];
    for (bytes, out) in halves.into_iter().zip(out.as_chunks_mut::<8>().0) {
        store_f32(out, scaled(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))));
    }
}

/// Returns a half-precision number in every lane.
#[inline]
#[avx2]
pub(super) fn half(bytes: [u8; 2]) -> __m256 {
    _mm256_cvtph_ps(_mm_set1_epi16(i16::from_le_bytes(bytes)))
}

/// Returns sixteen consecutive integers.
const fn ramp(first: i8) -> [i8; 16] {
    let mut ramp = [first; 16];
    let mut i = 1;
    while i < 16 {
        ramp[i] = ramp[i - 1] + 1;
        i += 1;
    }
    ramp
}
