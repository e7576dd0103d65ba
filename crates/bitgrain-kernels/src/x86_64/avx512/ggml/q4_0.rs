//! Q4_0: sixteen blocks at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::extremes::{Sixteen, largest};
use super::scales::Scales;
use crate::ggml::layout;
use crate::x86_64::avx512::lanes::{load_f32, store_quarter};
use crate::x86_64::prefetch::prefetch_behind;

type Block = [u8; 18];

#[avx512]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    let (sixteens, rest) = values.as_chunks::<32>().0.as_chunks::<16>();
    let (outs, out_rest) = out.as_chunks_mut::<18>().0.as_chunks_mut::<16>();
    for (blocks, out) in sixteens.iter().zip(outs) {
        encode_sixteen(blocks, out);
    }
    if !rest.is_empty() {
        encode_rest(rest, out_rest);
    }
}

#[cold]
#[inline(never)]
#[avx512]
fn encode_rest(blocks: &[[f32; 32]], out: &mut [Block]) {
    for (block, out) in blocks.iter().zip(out) {
        layout::q4_0::encode(block, out);
    }
}

#[inline]
#[avx512]
fn encode_sixteen(blocks: &Sixteen, out: &mut [Block; 16]) {
    for block in blocks {
        prefetch_behind(block);
    }
    // An eighth is as exact as the reference's division by 8.
    let scales = Scales::new(_mm512_mul_ps(largest(blocks), _mm512_set1_ps(-0.125)));
    for four in 0..4 {
        let first = 4 * four;
        let codes = [0, 1, 2, 3].map(|i| codes(&blocks[first + i], scales.inverse(first + i)));
        let [a, b, c, d] = pairs(codes);
        for (i, pairs) in [a, b, c, d].into_iter().enumerate() {
            let [low, high, bytes @ ..] = &mut out[first + i];
            [*low, *high] = scales.bytes(first + i);
            store_quarter(bytes, pairs);
        }
    }
}

/// Codes of a block, from 0 to 16; what is not finite gives a negative number.
#[inline]
#[avx512]
fn codes(block: &[f32; 32], inverse: __m512) -> [__m512i; 2] {
    let halves = block.as_chunks::<16>().0;
    [0, 1].map(|i| {
        let steps = _mm512_mul_ps(load_f32(&halves[i]), inverse);
        _mm512_cvttps_epi32(_mm512_add_ps(steps, _mm512_set1_ps(8.5)))
    })
}

/// The bytes of four blocks: low and high codes packed together, 16 limited to 15, negative ones to 0.
#[inline]
#[avx512]
fn pairs([a, b, c, d]: [[__m512i; 2]; 4]) -> [__m128i; 4] {
    let [low, high] = [0, 1].map(|i| {
        let bytes = _mm512_packus_epi16(_mm512_packus_epi32(a[i], b[i]), _mm512_packus_epi32(c[i], d[i]));
        _mm512_min_epu8(bytes, _mm512_set1_epi8(15))
    });
    let pairs = _mm512_or_si512(low, _mm512_slli_epi16::<4>(high));
    // The packs work within 128-bit lanes: dword `4 * lane + block` belongs at `4 * block + lane`.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let pairs = _mm512_permutexvar_epi32(order, pairs);
    [
        _mm512_castsi512_si128(pairs),
        _mm512_extracti32x4_epi32::<1>(pairs),
        _mm512_extracti32x4_epi32::<2>(pairs),
        _mm512_extracti32x4_epi32::<3>(pairs),
    ]
}
