//! Quantization of activations to 8-bit codes, 32 at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::{load_f32, store_quarter};
use crate::product::{Place, TINY};
use crate::scalar;

#[avx512]
pub(crate) fn quantize_activations(
    values: &[f32],
    place: Place,
    codes: &mut [i32],
    scales: &mut [f32],
    sums: &mut [i32],
) -> bool {
    let (blocks, rest) = values.as_chunks::<32>();
    let mut good = true;
    for (block, values) in blocks.iter().enumerate() {
        let [low, high] = [load_f32(first(values)), load_f32(last(values))];
        // Magnitude bits compare like integers, and NaN is the largest.
        let magnitude = _mm512_set1_epi32(i32::MAX);
        let bits = |x: __m512| _mm512_and_si512(_mm512_castps_si512(x), magnitude);
        let largest = _mm512_reduce_max_epi32(_mm512_max_epi32(bits(low), bits(high)));
        let largest = f32::from_bits(largest.cast_unsigned());
        good &= largest.is_finite();
        let (mut row, mut sum, mut scale) = ([0; 32], 0, 0.0);
        if largest >= TINY && largest.is_finite() {
            scale = largest / 127.0;
            let inverse = _mm512_set1_ps(127.0 / largest);
            let [low, high] = [low, high].map(|x| _mm512_cvtps_epi32(_mm512_mul_ps(x, inverse)));
            sum = _mm512_reduce_add_epi32(_mm512_add_epi32(low, high));
            let (front, back) = row.split_at_mut(16);
            for (out, codes) in [front, back].into_iter().zip([low, high]) {
                if let Some(out) = out.first_chunk_mut() {
                    store_quarter(out, _mm512_cvtepi32_epi8(codes));
                }
            }
        }
        if let Some(row) = row.as_chunks::<4>().0.first_chunk() {
            place.store(block, row, scale, sum, (&mut *codes, &mut *scales, &mut *sums));
        }
    }
    if !rest.is_empty() {
        good &= scalar::quantize_block(blocks.len(), rest, place, codes, scales, sums);
    }
    good
}

fn first(values: &[f32; 32]) -> &[f32; 16] {
    &values.as_chunks::<16>().0[0]
}

fn last(values: &[f32; 32]) -> &[f32; 16] {
    &values.as_chunks::<16>().0[1]
}
