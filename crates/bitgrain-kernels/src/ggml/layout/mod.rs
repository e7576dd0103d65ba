//! One file per format: a block of bytes to weights, and back where that takes no search. Spec: `spec/ggml.md`.
//!
//! Portable, and inlined wherever it is called: `scalar` runs it as it is, the vector backends compile it again with
//! their instructions for the formats they have no kernel of their own for. Loops therefore run over arrays of fixed
//! length, and nothing in them depends on the order of lanes.

mod extremes;
pub(crate) mod iq4_nl;
pub(crate) mod mxfp4;
pub(crate) mod q2_k;
pub(crate) mod q3_k;
mod q4_0;
mod q4_1;
pub(crate) mod q4_k;
mod q5_0;
mod q5_1;
pub(crate) mod q5_k;
pub(crate) mod q6_k;
mod q8_0;
mod rounding;
pub(crate) mod rows;
pub(crate) mod tq1_0;
pub(crate) mod tq2_0;

use super::rounded::Rounded;
use crate::ggml::GgmlBlock;
use crate::scalar::{f16_of, f32_of};

#[cfg(target_arch = "x86_64")]
pub(crate) use extremes::{largest, range};

/// Calls `$step` for each block of two slices. A macro, because a function that is passed as an argument is called
/// through a shim, which is not inlined where that would take instructions the shim does not have.
macro_rules! each {
    ($step:path, $from:ident, $to:ident) => {
        for (from, to) in $from.as_chunks().0.iter().zip($to.as_chunks_mut().0) {
            $step(from, to);
        }
    };
}

/// Decodes whole blocks; `bytes` and `out` hold the same number of them.
#[inline(always)]
pub(crate) fn decode(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    match block {
        GgmlBlock::Q4_0 => each!(q4_0::decode, bytes, out),
        GgmlBlock::Q4_1 => each!(q4_1::decode, bytes, out),
        GgmlBlock::Q5_0 => each!(q5_0::decode, bytes, out),
        GgmlBlock::Q5_1 => each!(q5_1::decode, bytes, out),
        GgmlBlock::Q8_0 => each!(q8_0::decode, bytes, out),
        GgmlBlock::Q2_K => each!(q2_k::decode, bytes, out),
        GgmlBlock::Q3_K => each!(q3_k::decode, bytes, out),
        GgmlBlock::Q4_K => each!(q4_k::decode, bytes, out),
        GgmlBlock::Q5_K => each!(q5_k::decode, bytes, out),
        GgmlBlock::Q6_K => each!(q6_k::decode, bytes, out),
        GgmlBlock::IQ4_NL => each!(iq4_nl::decode, bytes, out),
        GgmlBlock::TQ1_0 => each!(tq1_0::decode, bytes, out),
        GgmlBlock::TQ2_0 => each!(tq2_0::decode, bytes, out),
        GgmlBlock::MXFP4 => each!(mxfp4::decode, bytes, out),
    }
}

/// Encodes whole blocks; `values` and `out` hold the same number of them.
#[inline(always)]
pub(crate) fn encode(format: Rounded, values: &[f32], out: &mut [u8]) {
    match format {
        Rounded::Q4_0 => each!(q4_0::encode, values, out),
        Rounded::Q4_1 => each!(q4_1::encode, values, out),
        Rounded::Q5_0 => each!(q5_0::encode, values, out),
        Rounded::Q5_1 => each!(q5_1::encode, values, out),
        Rounded::Q8_0 => each!(q8_0::encode, values, out),
        Rounded::TQ1_0 => each!(tq1_0::encode, values, out),
        Rounded::TQ2_0 => each!(tq2_0::encode, values, out),
        Rounded::MXFP4 => each!(mxfp4::encode, values, out),
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

/// Some of the bytes of a block. The offsets are constants or follow from unrolled loops, and the length is part of
/// the type, so that loops over them have nothing left to check.
#[inline(always)]
fn part<const N: usize>(bytes: &[u8], at: usize) -> &[u8; N] {
    match bytes[at..].first_chunk() {
        Some(part) => part,
        None => unreachable!("offset {at} is not in the block"),
    }
}

/// `1 / scale` as the reference takes it: from the scale before it is rounded to half precision, and 0 for 0.
#[inline(always)]
fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}
