//! Fused quantize + pack and unpack + dequantize, 64 values at a time, in registers.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::max_abs::{max_abs_bits, max_bits_of_four};
use super::memory::store_prefix;
use super::pack::pack64;
use super::quantize::{Codes, codes64, values64};
use super::unpack::unpack64;
use crate::backend::for_width;
use crate::blocks::{bias_of, decode_walk, encode_walk, unused_pattern};
use crate::tail;
use crate::x86_64::divisor::Divisor;
use crate::x86_64::fours::encode_fours;
use crate::x86_64::prefetch::prefetch_ahead;
use crate::x86_64::stream::stream_walk;
use crate::{BitWidth, KernelError};

#[avx512]
pub(crate) fn quantize_pack(width: BitWidth, values: &[f32], scale: f32, out: &mut [u8]) {
    for_width!([2 3 4 5 6 7 8], width.bits(), quantize_pack_any(values, scale, out));
}

#[avx512]
fn quantize_pack_any<const W: u32>(values: &[f32], scale: f32, out: &mut [u8]) {
    quantize_pack_run::<W, true>(values, scale, out);
}

#[inline]
#[avx512]
fn quantize_pack_run<const W: u32, const FOREIGN: bool>(values: &[f32], scale: f32, out: &mut [u8]) {
    let qmax: u8 = (1 << (W - 1)) - 1;
    // With scale 0 every code is 0 by definition; a division would give infinities and NaN.
    if scale == 0.0 {
        return tail::quantize_pack::<W>(values, scale, out);
    }
    let divisor = Divisor::new(scale);
    let step = 8 * W as usize;
    let (chunks, rest) = values.as_chunks::<64>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * step);
    for (chunk, out) in chunks.iter().zip(outs.chunks_exact_mut(step)) {
        store_prefix(out, pack64::<W>(codes64::<FOREIGN>(chunk, divisor, qmax, bias_of(W))));
    }
    if !rest.is_empty() {
        quantize_pack_rest::<W, FOREIGN>(rest, divisor, out_rest);
    }
}

/// Encodes fewer than 64 values. Out of line, so that the loop above stays small enough to be inlined.
#[inline(never)]
#[avx512]
fn quantize_pack_rest<const W: u32, const FOREIGN: bool>(rest: &[f32], divisor: Divisor, out: &mut [u8]) {
    let qmax: u8 = (1 << (W - 1)) - 1;
    let mut chunk = [0.0; 64];
    chunk[..rest.len()].copy_from_slice(rest);
    let codes = codes64::<FOREIGN>(&chunk, divisor, qmax, bias_of(W));
    // Clears the codes after the last value: spare bits are zero.
    let codes = _mm512_maskz_mov_epi8(u64::MAX >> (64 - rest.len()), codes);
    store_prefix(&mut out[..(rest.len() * W as usize).div_ceil(8)], pack64::<W>(codes));
}

#[avx512]
pub(crate) fn unpack_dequantize(width: BitWidth, bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), unpack_dequantize_run(bytes, scale, out))
}

#[inline]
#[avx512]
fn unpack_dequantize_run<const W: u32>(bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    let step = 8 * W as usize;
    let scales = _mm512_set1_ps(scale);
    let (outs, out_rest) = out.as_chunks_mut::<64>();
    let (chunks, rest) = bytes.split_at(outs.len() * step);
    let mut good = true;
    for (chunk, out) in chunks.chunks_exact(step).zip(outs) {
        let (codes, fine) = codes_in_block::<W>(chunk);
        good &= fine;
        values64(codes, scales, out);
    }
    if !out_rest.is_empty() {
        good &= tail::unpack_dequantize::<W>(rest, scale, out_rest);
    }
    good
}

/// Returns 64 codes of a block and whether all are valid.
#[inline]
#[avx512]
pub(super) fn codes_in_block<const W: u32>(bytes: &[u8]) -> (Codes, bool) {
    let bytes = unpack64::<W>(bytes);
    let odd = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(unused_pattern(W).cast_signed()));
    (Codes { bytes, bias: bias_of(W) }, odd == 0)
}

#[avx512]
pub(crate) fn encode_blocks(width: BitWidth, block: usize, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    for_width!([2 3 4 5 6 7 8], width.bits(), encode_run(block, values, out))
}

#[avx512]
fn encode_run<const W: u32>(block: usize, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    encode_fours!(W, block, values, out, 0)
}

#[inline(never)]
#[avx512]
fn walk<const W: u32>(block: usize, values: &[f32], out: &mut [u8]) -> Result<(), usize> {
    encode_walk!(W, block, values, out)
}

/// Encodes one block of 64 values with a known divisor.
#[inline]
#[avx512]
fn encode_block<const W: u32>(values: &[f32; 64], divisor: Divisor, out: &mut [u8]) {
    let qmax: u8 = (1 << (W - 1)) - 1;
    let codes = codes64::<false>(values, divisor, qmax, bias_of(W));
    store_prefix(&mut out[..8 * W as usize], pack64::<W>(codes));
}

#[avx512]
pub(crate) fn decode_blocks(width: BitWidth, block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), decode_run(block, bytes, out))
}

#[avx512]
fn decode_run<const W: u32>(block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    stream_walk!(W, block, bytes, out)
}
