//! Dot products: 32 products of codes, or 64 of floats with codes, at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::blocks::codes_in_block;
use super::memory::{load_f32, load_half, store_f32};
use super::quantize::floats32;
use super::unpack::factors;
use crate::backend::for_width;
use crate::cast::{as_bytes, as_codes};
use crate::dot::{dot_walk, sum_in_halves};
use crate::tail;
use crate::{BitWidth, scalar};

/// Chunks of 32 products per i32 sum: each chunk adds at most 2^15 to a lane, so 2^14 chunks stay below 2^31.
const WIDEN: usize = 1 << 14;

#[avx2]
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i64 {
    let (a, a_rest) = as_bytes(a).as_chunks::<32>();
    let (b, b_rest) = as_bytes(b).as_chunks::<32>();
    let mut total = scalar::dot_i8(as_codes(a_rest), as_codes(b_rest));
    for (a, b) in a.chunks(WIDEN).zip(b.chunks(WIDEN)) {
        // One accumulator per half of a chunk, so that the two additions of an iteration are independent.
        let mut sums = [_mm256_setzero_si256(); 2];
        for (a, b) in a.iter().zip(b) {
            for ((sum, a), b) in sums.iter_mut().zip(a.as_chunks::<16>().0).zip(b.as_chunks::<16>().0) {
                let products = _mm256_madd_epi16(widen(a), widen(b));
                *sum = _mm256_add_epi32(*sum, products);
            }
        }
        for sum in sums {
            let low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(sum));
            let lanes = _mm256_add_epi64(low, _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(sum)));
            let pair = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
            total += _mm_cvtsi128_si64(pair) + _mm_extract_epi64::<1>(pair);
        }
    }
    total
}

/// Widens 16 codes to 16-bit integers.
#[inline]
#[avx2]
fn widen(codes: &[u8; 16]) -> __m256i {
    _mm256_cvtepi8_epi16(load_half(codes))
}

#[avx2]
pub(crate) fn dot_blocks(width: BitWidth, block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    for_width!([2 3 4 5 6 7 8], width.bits(), dot_blocks_of(block, values, bytes))
}

#[avx2]
fn dot_blocks_of<const W: u32>(block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    let mut totals = [_mm256_setzero_ps(); 2];
    let good =
        dot_walk!(W, block, values, bytes, |values, codes, scale| dot_run::<W>(values, codes, scale, &mut totals));
    good.then(|| sum_in_halves(to_lanes(totals)))
}

#[inline]
#[avx2]
fn dot_run<const W: u32>(values: &[f32], bytes: &[u8], scale: f32, totals: &mut [__m256; 2]) -> bool {
    let mut sums = [_mm256_setzero_ps(); 2];
    let factors = factors::<W>();
    let mut odd = _mm256_setzero_si256();
    let mut done = 0;
    let mut at = 0;
    for chunk in values.as_chunks::<64>().0 {
        let Some(reach) = bytes[at..].first_chunk() else { break };
        for (half, codes) in chunk.as_chunks::<32>().0.iter().zip(codes_in_block::<W>(reach, factors, &mut odd)) {
            for (i, (values, codes)) in half.as_chunks::<8>().0.iter().zip(floats32(codes)).enumerate() {
                // Register `i % 2` holds lanes 0-7 or 8-15 of the definition. Not fused: the definition rounds the
                // product first.
                sums[i % 2] = _mm256_add_ps(sums[i % 2], _mm256_mul_ps(load_f32(values), codes));
            }
        }
        at += 8 * W as usize;
        done += 64;
    }
    let mut good = _mm256_movemask_epi8(odd) == 0;
    // The tail continues the same sixteen lane sums, so that the order of additions matches the definition.
    if done < values.len() {
        let mut lanes = to_lanes(sums);
        good &= tail::lane_sums::<W>(&values[done..], &bytes[at..], &mut lanes);
        let halves = lanes.as_chunks::<8>().0;
        sums = [load_f32(&halves[0]), load_f32(&halves[1])];
    }
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total = _mm256_add_ps(*total, _mm256_mul_ps(sum, _mm256_set1_ps(scale)));
    }
    good
}

#[inline]
#[avx2]
fn to_lanes(sums: [__m256; 2]) -> [f32; 16] {
    let mut lanes = [0.0; 16];
    for (sum, out) in sums.into_iter().zip(lanes.as_chunks_mut::<8>().0) {
        store_f32(out, sum);
    }
    lanes
}
