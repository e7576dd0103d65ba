//! Dot products: 64 products of codes, or 64 of floats with codes, at a time.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::blocks::codes_in_block;
use super::memory::{load_f32, store_f32};
use crate::backend::for_width;
use crate::cast::as_bytes;
use crate::dot::{dot_walk, sum_in_halves};
use crate::tail;
use crate::{BitWidth, scalar};

/// Chunks of 64 products per i32 sum: each chunk adds at most 2^15 to a lane, so 2^14 chunks stay below 2^31.
const WIDEN: usize = 1 << 14;

#[avx512]
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i64 {
    let (a, a_rest) = as_bytes(a).as_chunks::<64>();
    let (b, b_rest) = as_bytes(b).as_chunks::<64>();
    let mut total = scalar::dot_i8(crate::cast::as_codes(a_rest), crate::cast::as_codes(b_rest));
    for (a, b) in a.chunks(WIDEN).zip(b.chunks(WIDEN)) {
        // One accumulator per half of a chunk, so that the two additions of an iteration are independent.
        let mut sums = [_mm512_setzero_si512(); 2];
        for (a, b) in a.iter().zip(b) {
            for ((sum, a), b) in sums.iter_mut().zip(a.as_chunks::<32>().0).zip(b.as_chunks::<32>().0) {
                *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(widen(a), widen(b)));
            }
        }
        let lanes = sums.map(|sum| {
            let low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(sum));
            _mm512_add_epi64(low, _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(sum)))
        });
        total += _mm512_reduce_add_epi64(_mm512_add_epi64(lanes[0], lanes[1]));
    }
    total
}

/// Widens 32 codes to 16-bit integers.
#[inline]
#[avx512]
fn widen(codes: &[u8; 32]) -> __m512i {
    // SAFETY: the reference covers 32 readable bytes; `loadu` needs no alignment.
    _mm512_cvtepi8_epi16(unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) })
}

#[avx512]
pub(crate) fn dot_blocks(width: BitWidth, block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    for_width!([2 3 4 5 6 7 8], width.bits(), dot_blocks_of(block, values, bytes))
}

#[avx512]
fn dot_blocks_of<const W: u32>(block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    let mut totals = _mm512_setzero_ps();
    let good =
        dot_walk!(W, block, values, bytes, |values, codes, scale| dot_run::<W>(values, codes, scale, &mut totals));
    let mut lanes = [0.0; 16];
    store_f32(&mut lanes, totals);
    good.then(|| sum_in_halves(lanes))
}

#[inline]
#[avx512]
fn dot_run<const W: u32>(values: &[f32], bytes: &[u8], scale: f32, totals: &mut __m512) -> bool {
    let step = 8 * W as usize;
    let (chunks, rest) = values.as_chunks::<64>();
    let (codes, codes_rest) = bytes.split_at(chunks.len() * step);
    let mut sums = _mm512_setzero_ps();
    let mut good = true;
    for (chunk, codes) in chunks.iter().zip(codes.chunks_exact(step)) {
        let (codes, fine) = codes_in_block::<W>(codes);
        good &= fine;
        for (values, codes) in chunk.as_chunks::<16>().0.iter().zip(codes.floats()) {
            // Not fused: the definition rounds the product before the addition.
            sums = _mm512_add_ps(sums, _mm512_mul_ps(load_f32(values), codes));
        }
    }
    // The tail continues the same sixteen lane sums, so that the order of additions matches the definition.
    if !rest.is_empty() {
        let mut lanes = [0.0; 16];
        store_f32(&mut lanes, sums);
        good &= tail::lane_sums::<W>(rest, codes_rest, &mut lanes);
        sums = load_f32(&lanes);
    }
    *totals = _mm512_add_ps(*totals, _mm512_mul_ps(sums, _mm512_set1_ps(scale)));
    good
}
