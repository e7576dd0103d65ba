//! Q4_0, Q4_1, Q5_0, Q5_1: sixteen blocks at a time.
//!
//! They differ in the `BYTES` of a block, the `BITS` of a code, and in codes that are `CENTERED` at zero or relative to
//! a stored minimum. A block has the scale, an optional minimum, optionally 32 fifth bits, and 16 bytes of nibbles.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::encode_portably;
use super::extremes::Blocks;
use crate::generic::ggml::scales::affine;
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx512::lanes::Avx512;
use crate::x86_64::avx512::memory::{load_f32, store_quarter};
use crate::x86_64::prefetch::prefetch_ahead;

#[avx512]
pub(super) fn encode<const BYTES: usize, const BITS: u32, const CENTERED: bool>(
    format: Rounded,
    values: &[f32],
    out: &mut [u8],
) {
    let (groups, rest) = values.as_chunks::<32>().0.as_chunks::<16>();
    let (outs, out_rest) = out.as_chunks_mut::<BYTES>().0.as_chunks_mut::<16>();
    for (blocks, out) in groups.iter().zip(outs) {
        encode_sixteen::<BYTES, BITS, CENTERED>(blocks, out);
    }
    if !rest.is_empty() {
        encode_portably(format, rest.as_flattened(), out_rest.as_flattened_mut());
    }
}

#[inline]
#[avx512]
fn encode_sixteen<const BYTES: usize, const BITS: u32, const CENTERED: bool>(
    blocks: &Blocks,
    out: &mut [[u8; BYTES]; 16],
) {
    for block in blocks {
        prefetch_ahead(block);
    }
    let scales = affine::<BITS, CENTERED, _, _>(Avx512::new(), blocks);
    for (four, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let first = 4 * four;
        let codes = [0, 1, 2, 3].map(|i| {
            codes::<BITS, CENTERED>(&blocks[first + i], scales.mins.of(first + i), scales.inverses.of(first + i))
        });
        let (pairs, fifths) = packed::<BITS>(codes);
        for (i, out) in out.iter_mut().enumerate() {
            if let Some(nibbles) = scales.write_head::<BYTES, BITS, CENTERED>(first + i, fifths[i], out) {
                store_quarter(nibbles, pairs[i]);
            }
        }
    }
}

/// Computes the codes of a block, up to one too large; non-finite values give a negative number.
#[inline]
#[avx512]
fn codes<const BITS: u32, const CENTERED: bool>(block: &[f32; 32], min: f32, inverse: f32) -> [__m512i; 2] {
    let (min, inverse) = (_mm512_set1_ps(min), _mm512_set1_ps(inverse));
    // The reference adds 0.5 and truncates; centered codes also add the code of zero.
    let offset = if CENTERED { (1 << (BITS - 1)) as f32 + 0.5 } else { 0.5 };
    let halves = block.as_chunks::<16>().0;
    [0, 1].map(|i| {
        let values = load_f32(&halves[i]);
        let values = if CENTERED { values } else { _mm512_sub_ps(values, min) };
        _mm512_cvttps_epi32(_mm512_add_ps(_mm512_mul_ps(values, inverse), _mm512_set1_ps(offset)))
    })
}

/// Packs the bytes and the fifth bits of four blocks. Codes that are one too large or negative are clamped by the
/// packs.
#[inline]
#[avx512]
fn packed<const BITS: u32>([a, b, c, d]: [[__m512i; 2]; 4]) -> ([__m128i; 4], [u32; 4]) {
    // Packs work within 128-bit lanes: dword `4 * lane + block` belongs at `4 * block + lane`.
    let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let [low, high] = [0, 1].map(|i| {
        let bytes = _mm512_packus_epi16(_mm512_packus_epi32(a[i], b[i]), _mm512_packus_epi32(c[i], d[i]));
        _mm512_permutexvar_epi32(order, _mm512_min_epu8(bytes, _mm512_set1_epi8((1 << BITS) - 1)))
    });
    // 0xCA takes the low nibble from `low` and the high nibble from `high`; fifth bits are shifted out or masked off.
    let lower = _mm512_set1_epi8(15);
    let pairs = _mm512_ternarylogic_epi32::<0xCA>(lower, low, _mm512_slli_epi16::<4>(high));
    let fifths = if BITS == 5 {
        let fifth = _mm512_set1_epi8(16);
        let [low, high] = [low, high].map(|codes| _mm512_test_epi8_mask(codes, fifth));
        #[expect(clippy::cast_possible_truncation, reason = "two times sixteen bits")]
        let of_block = |at: u32| (low >> at & 0xFFFF | (high >> at & 0xFFFF) << 16) as u32;
        [of_block(0), of_block(16), of_block(32), of_block(48)]
    } else {
        [0; 4]
    };
    let pairs = [
        _mm512_castsi512_si128(pairs),
        _mm512_extracti32x4_epi32::<1>(pairs),
        _mm512_extracti32x4_epi32::<2>(pairs),
        _mm512_extracti32x4_epi32::<3>(pairs),
    ];
    (pairs, fifths)
}
