//! Decoding 4-bit codes: a byte shuffle looks up what they stand for, which is then widened and scaled.

use core::arch::x86_64::*;

use crate::ggml::layout::{iq4_nl, mxfp4};
use crate::x86_64::avx2::lanes::{load_half, store_f32};

/// What Q4_0's codes stand for.
const CENTRED: [i8; 16] = [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7];
/// What Q4_1's codes stand for.
const COUNTED: [i8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn decode_q4_0(bytes: &[u8], out: &mut [f32]) {
    decode_each::<18>(&CENTRED, bytes, out, |block| (half([block[0], block[1]]), None));
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn decode_q4_1(bytes: &[u8], out: &mut [f32]) {
    decode_each::<20>(&COUNTED, bytes, out, |block| (half([block[0], block[1]]), Some(half([block[2], block[3]]))));
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn decode_iq4_nl(bytes: &[u8], out: &mut [f32]) {
    decode_each::<18>(&iq4_nl::TABLE, bytes, out, |block| (half([block[0], block[1]]), None));
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn decode_mxfp4(bytes: &[u8], out: &mut [f32]) {
    decode_each::<17>(&mxfp4::TABLE, bytes, out, |block| (_mm256_set1_ps(mxfp4::step(block[0])), None));
}

/// Decodes blocks that end with sixteen bytes of codes, with the scale and minimum that `scales` finds in a block.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn decode_each<const B: usize>(
    table: &[i8; 16],
    bytes: &[u8],
    out: &mut [f32],
    scales: impl Fn(&[u8; B]) -> (__m256, Option<__m256>),
) {
    let table = load_half(&table.map(i8::cast_unsigned));
    let nibble = _mm_set1_epi8(15);
    for (block, out) in bytes.as_chunks::<B>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        let Some(pairs) = block.last_chunk() else { continue };
        let pairs = load_half(pairs);
        let codes = [_mm_and_si128(pairs, nibble), _mm_and_si128(_mm_srli_epi16::<4>(pairs), nibble)];
        let (scale, min) = scales(block);
        for (codes, out) in codes.into_iter().zip(out.as_chunks_mut::<16>().0) {
            store_signed(_mm_shuffle_epi8(table, codes), out, |steps| {
                let values = _mm256_mul_ps(scale, steps);
                min.map_or(values, |min| _mm256_add_ps(values, min))
            });
        }
    }
}

/// Widens sixteen signed bytes to f32 and stores what `scaled` makes of them.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn store_signed(bytes: __m128i, out: &mut [f32; 16], scaled: impl Fn(__m256) -> __m256) {
    let halves = [bytes, _mm_unpackhi_epi64(bytes, bytes)];
    for (bytes, out) in halves.into_iter().zip(out.as_chunks_mut::<8>().0) {
        store_f32(out, scaled(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes))));
    }
}

/// A half-precision number in every lane.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn half(bytes: [u8; 2]) -> __m256 {
    _mm256_cvtph_ps(_mm_set1_epi16(i16::from_le_bytes(bytes)))
}
