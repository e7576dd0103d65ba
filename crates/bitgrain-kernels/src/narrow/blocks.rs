//! Fused quantize + pack and unpack + dequantize, 64 values at a time, in registers.

use crate::backend::for_width;
use crate::blocks::{bias_of, decode_walk, encode_walk, unused_pattern};
use crate::generic::max_abs::max_abs_bits;
use crate::narrow::pack::{self, pack16};
use crate::narrow::quantize::{codes16, values16};
use crate::narrow::register::{Bits, Narrow, load_at, store_at};
use crate::narrow::unpack::{self, factors, unpack16};
use crate::tail;
use crate::{BitWidth, KernelError};

#[inline(always)]
pub(crate) fn quantize_pack(isa: impl Narrow, width: BitWidth, values: &[f32], scale: f32, out: &mut [u8]) {
    for_width!([2 3 4 5 6 7 8], width.bits(), quantize_pack_any(isa, values, scale, out));
}

#[inline(always)]
fn quantize_pack_any<const W: u32>(isa: impl Narrow, values: &[f32], scale: f32, out: &mut [u8]) {
    quantize_pack_run::<W, true>(isa, values, scale, out);
}

#[inline(always)]
fn quantize_pack_run<const W: u32, const FOREIGN: bool>(isa: impl Narrow, values: &[f32], scale: f32, out: &mut [u8]) {
    let qmax: u8 = (1 << (W - 1)) - 1;
    if scale == 0.0 {
        return tail::quantize_pack::<W>(values, scale, out);
    }
    let (chunks, mut rest) = values.as_chunks::<64>();
    let mut at = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let Some(reach) = out[at..].first_chunk_mut::<{ pack::REACH }>() else {
            rest = &values[i * 64..];
            break;
        };
        for (quarter, values) in chunk.as_chunks::<16>().0.iter().enumerate() {
            let codes = codes16::<FOREIGN, _>(isa, values, scale, qmax, bias_of(W));
            store_at(isa, pack16::<W, _>(isa, codes), reach, quarter * 2 * W as usize);
        }
        at += 8 * W as usize;
    }
    if !rest.is_empty() {
        tail::quantize_pack::<W>(rest, scale, &mut out[at..]);
    }
}

#[inline(always)]
pub(crate) fn unpack_dequantize(isa: impl Narrow, width: BitWidth, bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), unpack_dequantize_run(isa, bytes, scale, out))
}

#[inline(always)]
fn unpack_dequantize_run<const W: u32>(isa: impl Narrow, bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    let scales = isa.splat(scale);
    let factors = factors::<W, _>(isa);
    let mut odd = isa.code8(0);
    let mut done = 0;
    let mut at = 0;
    for out in out.as_chunks_mut::<64>().0 {
        let Some(reach) = bytes[at..].first_chunk::<{ unpack::REACH }>() else { break };
        for (quarter, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            values16(isa, codes_in_block::<W, _>(isa, reach, quarter, factors, &mut odd), scales, out);
        }
        at += 8 * W as usize;
        done += 64;
    }
    let good = done == out.len() || tail::unpack_dequantize::<W>(&bytes[at..], scale, &mut out[done..]);
    good & !isa.any_bit(odd)
}

/// Returns 16 of 64 signed codes of a block; marks invalid patterns in `odd`.
#[inline(always)]
pub(super) fn codes_in_block<const W: u32, I: Narrow>(
    isa: I,
    bytes: &[u8; unpack::REACH],
    quarter: usize,
    factors: Bits<I>,
    odd: &mut Bits<I>,
) -> Bits<I> {
    let codes = unpack16::<W, _>(isa, load_at(isa, bytes, quarter * 2 * W as usize), factors);
    *odd = isa.or_bits(*odd, isa.eq8(codes, isa.code8(unused_pattern(W))));
    isa.sub8(codes, isa.code8(bias_of(W)))
}

#[inline(always)]
pub(crate) fn encode_blocks(
    isa: impl Narrow,
    width: BitWidth,
    block: usize,
    values: &[f32],
    out: &mut [u8],
) -> Result<(), KernelError> {
    for_width!([2 3 4 5 6 7 8], width.bits(), encode_run(isa, block, values, out))
        .map_err(|index| KernelError::NonFinite { index })
}

#[inline(always)]
fn encode_run<const W: u32>(isa: impl Narrow, block: usize, values: &[f32], out: &mut [u8]) -> Result<(), usize> {
    encode_walk!(W, block, values, out, isa)
}

#[inline(always)]
pub(crate) fn decode_blocks(isa: impl Narrow, width: BitWidth, block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), decode_run(isa, block, bytes, out))
}

#[inline(always)]
fn decode_run<const W: u32>(isa: impl Narrow, block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    decode_walk!(W, block, bytes, out, isa)
}
