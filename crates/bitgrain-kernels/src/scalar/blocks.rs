//! Fused quantize + pack and unpack + dequantize: the definition, through a small buffer on the stack.

use super::max_abs::max_abs_bits;
use super::pack::pack_run;
use super::unpack::unpack_run;
use super::{dequantize, quantize};
use crate::backend::for_width;
use crate::blocks::{bias_of, decode_walk, encode_walk};
use crate::cast::{as_bytes, as_codes};
use crate::{BitWidth, KernelError};

/// Codes in the buffer between the two halves of a fused kernel.
const CHUNK: usize = 256;

pub(crate) fn quantize_pack(width: BitWidth, values: &[f32], scale: f32, out: &mut [u8]) {
    for_width!([2 3 4 5 6 7 8], width.bits(), quantize_pack_any(values, scale, out));
}

fn quantize_pack_any<const W: u32>(values: &[f32], scale: f32, out: &mut [u8]) {
    quantize_pack_run::<W, true>(values, scale, out);
}

/// Encodes any number of values with one scale. `out` may be longer than the codes. `_FOREIGN`: the scale was not
/// computed from these values; vector backends clamp only then.
pub(crate) fn quantize_pack_run<const W: u32, const _FOREIGN: bool>(values: &[f32], scale: f32, out: &mut [u8]) {
    let width = const { width_of(W) };
    let mut codes = [0; CHUNK];
    let mut at = 0;
    for chunk in values.chunks(CHUNK) {
        let codes = &mut codes[..chunk.len()];
        quantize(width, chunk, scale, codes);
        pack_run::<W>(const { bias_of(W) }, as_bytes(codes), &mut out[at..]);
        at += width.packed_len(chunk.len());
    }
}

pub(crate) fn unpack_dequantize(width: BitWidth, bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), unpack_dequantize_run(bytes, scale, out))
}

/// Decodes any number of values with one scale; false if a code is invalid. `bytes` may be longer than needed.
pub(crate) fn unpack_dequantize_run<const W: u32>(bytes: &[u8], scale: f32, out: &mut [f32]) -> bool {
    let width = const { width_of(W) };
    let mut codes = [0; CHUNK];
    let mut at = 0;
    let mut good = true;
    for chunk in out.chunks_mut(CHUNK) {
        let codes = &mut codes[..chunk.len()];
        unpack_run::<W>(const { bias_of(W) }, &bytes[at..], codes);
        good &= codes.iter().fold(0, |max: u8, code| max.max(code.wrapping_add(width.qmax()))) <= 2 * width.qmax();
        dequantize(as_codes(codes), scale, chunk);
        at += width.packed_len(chunk.len());
    }
    good
}

pub(crate) fn encode_blocks(width: BitWidth, block: usize, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    for_width!([2 3 4 5 6 7 8], width.bits(), encode_run(block, values, out))
}

fn encode_run<const W: u32>(block: usize, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
    walk::<W>(block, values, out).map_err(|index| KernelError::NonFinite { index })
}

fn walk<const W: u32>(block: usize, values: &[f32], out: &mut [u8]) -> Result<(), usize> {
    encode_walk!(W, block, values, out)
}

pub(crate) fn decode_blocks(width: BitWidth, block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    for_width!([2 3 4 5 6 7 8], width.bits(), decode_run(block, bytes, out))
}

fn decode_run<const W: u32>(block: usize, bytes: &[u8], out: &mut [f32]) -> bool {
    decode_walk!(W, block, bytes, out)
}

#[expect(clippy::cast_possible_truncation, reason = "a literal width")]
const fn width_of(bits: u32) -> BitWidth {
    match BitWidth::new(bits as u8) {
        Ok(width) => width,
        Err(_) => unreachable!(),
    }
}
