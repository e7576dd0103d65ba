//! Q8_0: eight blocks at a time, and back one by one.

use core::arch::x86_64::*;

use super::encode_portably;
use super::extremes::{Eight, magnitudes};
use super::nibbles::{half, store_signed};
use super::scales::{Each, Halves};
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx2::lanes::{load_f32, load_half, store_bytes};
use crate::x86_64::prefetch::{prefetch_behind, prefetch_output};

type Block = [u8; 34];

/// Magnitudes from which scales and their inverses are ordinary numbers.
const LEAST: f32 = 1e-30;

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    let (eights, rest) = values.as_chunks::<32>().0.as_chunks::<8>();
    let (outs, out_rest) = out.as_chunks_mut::<34>().0.as_chunks_mut::<8>();
    for (blocks, out) in eights.iter().zip(outs) {
        encode_eight(blocks, out);
    }
    if !rest.is_empty() {
        encode_portably(Rounded::Q8_0, rest.as_flattened(), out_rest.as_flattened_mut());
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn encode_eight(blocks: &Eight, out: &mut [Block; 8]) {
    for block in blocks {
        prefetch_behind(block);
    }
    let magnitudes = magnitudes(blocks);
    // False for infinities and NaN.
    let finite = _mm256_cmp_ps::<_CMP_LT_OQ>(magnitudes, _mm256_set1_ps(f32::INFINITY));
    let large = _mm256_cmp_ps::<_CMP_GE_OQ>(magnitudes, _mm256_set1_ps(LEAST));
    let zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(magnitudes, _mm256_setzero_ps());
    if _mm256_movemask_ps(_mm256_and_ps(finite, _mm256_or_ps(large, zero))) != 0xFF {
        return encode_portably(Rounded::Q8_0, blocks.as_flattened(), out.as_flattened_mut());
    }
    let scales = _mm256_div_ps(magnitudes, _mm256_set1_ps(127.0));
    let (halves, inverses) = (Halves::new(scales), Each::inverse(scales));
    for (i, (block, out)) in blocks.iter().zip(out).enumerate() {
        let [low, high, bytes @ ..] = out;
        [*low, *high] = halves.of(i);
        let [a, b, c, d] = codes(block, inverses.of(i));
        let codes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        // The packs work within 128-bit lanes: dword `4 * lane + register` belongs at `2 * register + lane`.
        store_bytes(bytes, _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    }
}

/// Codes of a block: to the nearest, halves away from zero, as `layout::rounding` does it.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn codes(block: &[f32; 32], inverse: __m256) -> [__m256i; 4] {
    let quarters = block.as_chunks::<8>().0;
    [0, 1, 2, 3].map(|i| {
        let steps = _mm256_mul_ps(load_f32(&quarters[i]), inverse);
        let sign = _mm256_and_ps(steps, _mm256_set1_ps(-0.0));
        let almost_half = _mm256_or_ps(sign, _mm256_set1_ps(0.499_999_97));
        _mm256_cvttps_epi32(_mm256_add_ps(steps, almost_half))
    })
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn decode(bytes: &[u8], out: &mut [f32]) {
    for (bytes, out) in bytes.as_chunks::<34>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        let [low, high, codes @ ..] = bytes;
        prefetch_output(out);
        let scale = half([*low, *high]);
        for (codes, out) in codes.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
            store_signed(load_half(codes), out, |codes| _mm256_mul_ps(codes, scale));
        }
    }
}
