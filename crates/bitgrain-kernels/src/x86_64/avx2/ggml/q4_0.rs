//! Q4_0: eight blocks at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::extremes::{Eight, largest};
use super::scales::Scales;
use crate::ggml::layout;
use crate::x86_64::avx2::lanes::{load_f32, store_half};
use crate::x86_64::prefetch::prefetch_behind;

type Block = [u8; 18];

#[avx2]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    let (eights, rest) = values.as_chunks::<32>().0.as_chunks::<8>();
    let (outs, out_rest) = out.as_chunks_mut::<18>().0.as_chunks_mut::<8>();
    for (blocks, out) in eights.iter().zip(outs) {
        encode_eight(blocks, out);
    }
    if !rest.is_empty() {
        encode_rest(rest, out_rest);
    }
}

#[cold]
#[inline(never)]
#[avx2]
fn encode_rest(blocks: &[[f32; 32]], out: &mut [Block]) {
    for (block, out) in blocks.iter().zip(out) {
        layout::q4_0::encode(block, out);
    }
}

#[inline]
#[avx2]
fn encode_eight(blocks: &Eight, out: &mut [Block; 8]) {
    for block in blocks {
        prefetch_behind(block);
    }
    // An eighth is as exact as the reference's division by 8.
    let scales = Scales::new(_mm256_mul_ps(largest(blocks), _mm256_set1_ps(-0.125)));
    for (two, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let first = 2 * two;
        let pairs = pairs([0, 1].map(|i| codes(&blocks[first + i], scales.inverse(first + i))));
        for (i, (pairs, out)) in pairs.into_iter().zip(out).enumerate() {
            let [low, high, bytes @ ..] = out;
            [*low, *high] = scales.bytes(first + i);
            store_half(bytes, pairs);
        }
    }
}

/// Codes of a block, from 0 to 16; what is not finite gives a negative number.
#[inline]
#[avx2]
fn codes(block: &[f32; 32], inverse: __m256) -> [__m256i; 4] {
    let quarters = block.as_chunks::<8>().0;
    [0, 1, 2, 3].map(|i| {
        let steps = _mm256_mul_ps(load_f32(&quarters[i]), inverse);
        _mm256_cvttps_epi32(_mm256_add_ps(steps, _mm256_set1_ps(8.5)))
    })
}

/// The bytes of two blocks: low and high codes packed together, 16 limited to 15, negative ones to 0.
#[inline]
#[avx2]
fn pairs([a, b]: [[__m256i; 4]; 2]) -> [__m128i; 2] {
    let [low, high] = [0, 2].map(|i| {
        let words = [_mm256_packus_epi32(a[i], a[i + 1]), _mm256_packus_epi32(b[i], b[i + 1])];
        _mm256_min_epu8(_mm256_packus_epi16(words[0], words[1]), _mm256_set1_epi8(15))
    });
    let pairs = _mm256_or_si256(low, _mm256_slli_epi16::<4>(high));
    // The packs work within 128-bit lanes: dword `4 * lane + register` belongs at `2 * register + lane`.
    let pairs = _mm256_permutevar8x32_epi32(pairs, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    [_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs)]
}
