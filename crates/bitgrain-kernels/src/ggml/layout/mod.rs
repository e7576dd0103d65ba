//! One file per format: a block of bytes to weights, and back where that takes no search. Spec: `spec/ggml.md`.
//!
//! Portable, and inlined wherever it is called: `scalar` runs it as it is, the vector backends compile it again with
//! their instructions for the formats they have no kernel of their own for. Loops therefore run over arrays of fixed
//! length, and nothing in them depends on the order of lanes.

mod extremes;
pub(crate) mod iq4_nl;
pub(crate) mod mxfp4;
mod q2_k;
mod q3_k;
pub(crate) mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
pub(crate) mod q8_0;
mod rounding;
mod tq1_0;
mod tq2_0;

use super::rounded::Rounded;
use crate::GgmlBlock;
use crate::scalar::{f16_of, f32_of};

pub(crate) use extremes::largest;

/// Decodes whole blocks; `bytes` and `out` hold the same number of them.
#[inline(always)]
pub(crate) fn decode(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    match block {
        GgmlBlock::Q4_0 => decode_each(bytes, out, q4_0::decode),
        GgmlBlock::Q4_1 => decode_each(bytes, out, q4_1::decode),
        GgmlBlock::Q5_0 => decode_each(bytes, out, q5_0::decode),
        GgmlBlock::Q5_1 => decode_each(bytes, out, q5_1::decode),
        GgmlBlock::Q8_0 => decode_each(bytes, out, q8_0::decode),
        GgmlBlock::Q2_K => decode_each(bytes, out, q2_k::decode),
        GgmlBlock::Q3_K => decode_each(bytes, out, q3_k::decode),
        GgmlBlock::Q4_K => decode_each(bytes, out, q4_k::decode),
        GgmlBlock::Q5_K => decode_each(bytes, out, q5_k::decode),
        GgmlBlock::Q6_K => decode_each(bytes, out, q6_k::decode),
        GgmlBlock::IQ4_NL => decode_each(bytes, out, iq4_nl::decode),
        GgmlBlock::TQ1_0 => decode_each(bytes, out, tq1_0::decode),
        GgmlBlock::TQ2_0 => decode_each(bytes, out, tq2_0::decode),
        GgmlBlock::MXFP4 => decode_each(bytes, out, mxfp4::decode),
    }
}

/// Encodes whole blocks; `values` and `out` hold the same number of them.
#[inline(always)]
pub(crate) fn encode(format: Rounded, values: &[f32], out: &mut [u8]) {
    match format {
        Rounded::Q4_0 => encode_each(values, out, q4_0::encode),
        Rounded::Q4_1 => encode_each(values, out, q4_1::encode),
        Rounded::Q5_0 => encode_each(values, out, q5_0::encode),
        Rounded::Q5_1 => encode_each(values, out, q5_1::encode),
        Rounded::Q8_0 => encode_each(values, out, q8_0::encode),
        Rounded::TQ1_0 => encode_each(values, out, tq1_0::encode),
        Rounded::TQ2_0 => encode_each(values, out, tq2_0::encode),
        Rounded::MXFP4 => encode_each(values, out, mxfp4::encode),
    }
}

#[inline(always)]
pub(crate) fn decode_each<const B: usize, const W: usize>(
    bytes: &[u8],
    out: &mut [f32],
    decode: impl Fn(&[u8; B], &mut [f32; W]),
) {
    for (bytes, out) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        decode(bytes, out);
    }
}

#[inline(always)]
pub(crate) fn encode_each<const B: usize, const W: usize>(
    values: &[f32],
    out: &mut [u8],
    encode: impl Fn(&[f32; W], &mut [u8; B]),
) {
    for (values, out) in values.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        encode(values, out);
    }
}

/// The half-precision number at a byte of a block.
#[inline(always)]
fn half_at<const B: usize>(bytes: &[u8; B], at: usize) -> f32 {
    f32_of(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// Writes a number in half precision, ties to even.
#[inline(always)]
fn put_half<const B: usize>(out: &mut [u8; B], at: usize, value: f32) {
    [out[at], out[at + 1]] = f16_of(value).to_le_bytes();
}

/// `1 / scale` as the reference takes it: from the scale before it is rounded to half precision, and 0 for 0.
#[inline(always)]
fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}
