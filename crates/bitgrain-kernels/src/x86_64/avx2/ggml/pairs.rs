//! Q4_0, Q4_1, Q5_0, Q5_1: eight blocks at a time.
//!
//! They differ in the `BYTES` of a block, the `BITS` of a code, and in codes that are `CENTERED` at zero or relative to
//! a stored minimum. A block has the scale, an optional minimum, optionally 32 fifth bits, and 16 bytes of nibbles.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::encode_portably;
use super::extremes::Blocks;
use crate::generic::ggml::scales::affine;
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx2::lanes::Avx2;
use crate::x86_64::avx2::memory::{load_f32, store_half};
use crate::x86_64::prefetch::prefetch_ahead;

#[avx2]
pub(super) fn encode<const BYTES: usize, const BITS: u32, const CENTERED: bool>(
    format: Rounded,
    values: &[f32],
    out: &mut [u8],
) {
    let (groups, rest) = values.as_chunks::<32>().0.as_chunks::<8>();
    let (outs, out_rest) = out.as_chunks_mut::<BYTES>().0.as_chunks_mut::<8>();
    for (blocks, out) in groups.iter().zip(outs) {
        encode_eight::<BYTES, BITS, CENTERED>(blocks, out);
    }
    if !rest.is_empty() {
        encode_portably(format, rest.as_flattened(), out_rest.as_flattened_mut());
    }
}

#[inline]
#[avx2]
fn encode_eight<const BYTES: usize, const BITS: u32, const CENTERED: bool>(
    blocks: &Blocks,
    out: &mut [[u8; BYTES]; 8],
) {
    for block in blocks {
        prefetch_ahead(block);
    }
    let scales = affine::<BITS, CENTERED, _, _>(Avx2::new(), blocks);
    for (two, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let first = 2 * two;
        let codes = [0, 1].map(|i| {
            codes::<BITS, CENTERED>(&blocks[first + i], scales.mins.of(first + i), scales.inverses.of(first + i))
        });
        let (pairs, fifths) = packed::<BITS>(codes);
        for (i, out) in out.iter_mut().enumerate() {
            if let Some(nibbles) = scales.write_head::<BYTES, BITS, CENTERED>(first + i, fifths[i], out) {
                store_half(nibbles, pairs[i]);
            }
        }
    }
}

/// Computes the codes of a block, up to one too large; non-finite values give a negative number.
#[inline]
#[avx2]
fn codes<const BITS: u32, const CENTERED: bool>(block: &[f32; 32], min: f32, inverse: f32) -> [__m256i; 4] {
    let (min, inverse) = (_mm256_set1_ps(min), _mm256_set1_ps(inverse));
    // The reference adds 0.5 and truncates; centered codes also add the code of zero.
    let offset = if CENTERED { (1 << (BITS - 1)) as f32 + 0.5 } else { 0.5 };
    let quarters = block.as_chunks::<8>().0;
    [0, 1, 2, 3].map(|i| {
        let values = load_f32(&quarters[i]);
        let values = if CENTERED { values } else { _mm256_sub_ps(values, min) };
        _mm256_cvttps_epi32(_mm256_add_ps(_mm256_mul_ps(values, inverse), _mm256_set1_ps(offset)))
    })
}

/// Packs the bytes and the fifth bits of two blocks. Codes that are one too large or negative are clamped by the packs.
#[inline]
#[avx2]
fn packed<const BITS: u32>([a, b]: [[__m256i; 4]; 2]) -> ([__m128i; 2], [u32; 2]) {
    // Packs work within 128-bit lanes: dword `4 * lane + register` belongs at `2 * register + lane`.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    let [mut low, mut high] = [0, 2].map(|i| {
        let words = [_mm256_packus_epi32(a[i], a[i + 1]), _mm256_packus_epi32(b[i], b[i + 1])];
        _mm256_min_epu8(_mm256_packus_epi16(words[0], words[1]), _mm256_set1_epi8((1 << BITS) - 1))
    });
    let mut fifths = [0; 2];
    if BITS == 5 {
        // Moves the fifth bit of each byte to the top, where `movemask` reads it.
        let [low_bits, high_bits] = [low, high].map(|codes| {
            let ordered = _mm256_permutevar8x32_epi32(codes, order);
            _mm256_movemask_epi8(_mm256_slli_epi16::<3>(ordered)).cast_unsigned()
        });
        fifths = [low_bits & 0xFFFF | high_bits << 16, low_bits >> 16 | high_bits & 0xFFFF_0000];
        [low, high] = [low, high].map(|codes| _mm256_and_si256(codes, _mm256_set1_epi8(15)));
    }
    let pairs = _mm256_or_si256(low, _mm256_slli_epi16::<4>(high));
    let pairs = _mm256_permutevar8x32_epi32(pairs, order);
    ([_mm256_castsi256_si128(pairs), _mm256_extracti128_si256::<1>(pairs)], fifths)
}
