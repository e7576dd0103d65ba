//! Fused quantize + pack and unpack + dequantize, 64 values at a time, in registers.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::max_abs::{max_abs_bits, max_bits_of_four};
use super::pack::{self, pack64};
use super::quantize::{codes64, values32};
use super::unpack::{self, factors, unpack64};
use crate::backend::for_width;
use crate::blocks::{bias_of, decode_walk, encode_walk, unused_pattern};
use crate::tail;
use crate::x86_64::divisor::Divisor;
use crate::x86_64::fours::encode_fours;
use crate::x86_64::prefetch::prefetch_ahead;
use crate::x86_64::stream::stream_walk;
use crate::{BitWidth, KernelError};

#[avx2]
pub(crate) fn quantize_pack(width: BitWidth, values: &[f32], scale: f32, out: &mut [u8]) {
    for_width!([2 3 4 5 6 7 8], width.bits(), quantize_pack_any(values, scale, out));
}

#[avx2]
fn quantize_pack_any<const W: u32>(values: &[f32], scale: f32, out: &mut [u8]) {
    quantize_pack_run::<W, true>(values, scale, out);
}

#[inline]
#[avx2]
fn quantize_pack_run<const W: u32, const FOREIGN: bool>(values: &[f32], scale: f32, out: &mut [u8]) {
    let qmax: u8 = (1 << (W - 1)) - 1;
    // With scale 0 every code is 0 by definition; a division would give infinities and NaN.
    if scale == 0.0 {
        return tail::quantize_pack::<W>(values, scale, out);
    }
    let divisor = Divisor::new(scale);
    let (chunks, mut rest) = values.as_chunks::<64>();
    let mut at = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        // `pack64` stores up to `REACH` bytes, more than its codes take, so the tail packs the last chunks.
        let Some(reach) = out[at..].first_chunk_mut() else {
            rest = &values[i * 64..];
            break;
        };
        pack64::<W>(codes64::<FOREIGN>(chunk, divisor, qmax, bias_of(W)), reach);
        at += 8 * W as usize;
    }
    if !rest.is_empty() {
        tail::quantize_pack::<W>(rest, scale, &mut out[at..]);
    }
}

#[avx2]
pub(crate) fn unpack_dequantize(width: BitWidth, bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), unpack_dequantize_run(bytes, scale, out))
}

#[inline]
#[avx2]
fn unpack_dequantize_run<const W: u32>(bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    let scales = _mm256_set1_ps(scale);
    let factors = factors::<W>();
    // Invalid patterns are collected and tested once after the loop, which stays free of branches.
    let mut odd = _mm256_setzero_si256();
    let mut done = 0;
    let mut at = 0;
    for out in out.as_chunks_mut::<64>().0 {
        // Loads also reach beyond the packed codes; the tail decodes the rest.
        let Some(reach) = bytes[at..].first_chunk() else { break };
        for (out, codes) in out.as_chunks_mut::<32>().0.iter_mut().zip(codes_in_block::<W>(reach, factors, &mut odd)) {
            values32(codes, scales, out);
        }
        at += 8 * W as usize;
        done += 64;
    }
    let good = done == out.len() || tail::unpack_dequantize::<W>(&bytes[at..], scale, &mut out[done..]);
    good & (_mm256_movemask_epi8(odd) == 0)
}

/// Returns 64 signed codes of a block; marks invalid patterns in `odd`.
#[inline]
#[avx2]
pub(super) fn codes_in_block<const W: u32>(
    bytes: &[u8; unpack::REACH],
    factors: __m256i,
    odd: &mut __m256i,
) -> [__m256i; 2] {
    let (unused, bias) = (unused_pattern(W).cast_signed(), bias_of(W).cast_signed());
    let mut codes = unpack64::<W>(bytes, factors);
    for codes in &mut codes {
        *odd = _mm256_or_si256(*odd, _mm256_cmpeq_epi8(*codes, _mm256_set1_epi8(unused)));
        *codes = _mm256_sub_epi8(*codes, _mm256_set1_epi8(bias));
    }
    codes
}

#[avx2]
pub(crate) fn encode_blocks(width: BitWidth, block: usize, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    for_width!([2 3 4 5 6 7 8], width.bits(), encode_run(block, values, out))
}

#[avx2]
fn encode_run<const W: u32>(block: usize, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    encode_fours!(W, block, values, out, pack::REACH)
}

#[inline(never)]
#[avx2]
fn walk<const W: u32>(block: usize, values: &[f32], out: &mut [u8]) -> Result<(), usize> {
    encode_walk!(W, block, values, out)
}

/// Encodes one block of 64 values with a known divisor.
#[inline]
#[avx2]
fn encode_block<const W: u32>(values: &[f32; 64], divisor: Divisor, out: &mut [u8]) {
    let qmax: u8 = (1 << (W - 1)) - 1;
    let Some(reach) = out.first_chunk_mut() else { unreachable!("the caller leaves slack after the block") };
    pack64::<W>(codes64::<false>(values, divisor, qmax, bias_of(W)), reach);
}

#[avx2]
pub(crate) fn decode_blocks(width: BitWidth, block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), decode_run(block, bytes, out))
}

#[avx2]
fn decode_run<const W: u32>(block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    stream_walk!(W, block, bytes, out)
}
