//! Block layouts, one file per format: decoding, and encoding for formats without a search. Spec: `spec/ggml.md`.
//!
//! Portable and always inlined: `scalar` runs this code directly, and the vector backends compile it with their own
//! instructions for formats without a dedicated kernel. Loops therefore run over arrays of constant length, and nothing
//! depends on the order of lanes.

mod extremes;
pub(crate) mod iq4_nl;
pub(crate) mod mxfp4;
pub(crate) mod q2_k;
pub(crate) mod q3_k;
mod q4_0;
mod q4_1;
pub(crate) mod q4_k;
pub(crate) mod q5_0;
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

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(crate) use extremes::{largest, range};

/// Calls `$step` for each block of two slices. A macro, because a function passed as an argument is called through a
/// shim, which cannot be inlined if it needs instructions that the shim does not enable.
macro_rules! each {
    ($step:path, $from:ident, $to:ident) => {
        for (from, to) in $from.as_chunks().0.iter().zip($to.as_chunks_mut().0) {
            $step(from, to);
        }
    };
}

/// Decodes blocks; `bytes` and `out` hold the same number of whole blocks.
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

/// Encodes blocks; `values` and `out` hold the same number of whole blocks.
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

/// Reads the half-precision number at byte `at` of a block.
#[inline(always)]
fn half_at<const B: usize>(bytes: &[u8; B], at: usize) -> f32 {
    f32_of(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// Writes a number in half precision, ties to even.
#[inline(always)]
pub(crate) fn put_half<const B: usize>(out: &mut [u8; B], at: usize, value: f32) {
    [out[at], out[at + 1]] = f16_of(value).to_le_bytes();
}

/// Returns `N` bytes of a block. Offsets are constants or come from unrolled loops, and the length is part of the type,
/// so that loops over the result need no bounds checks.
#[inline(always)]
pub(crate) fn part<const N: usize>(bytes: &[u8], at: usize) -> &[u8; N] {
    match bytes[at..].first_chunk() {
        Some(part) => part,
        None => unreachable!("offset {at} is not in the block"),
    }
}

/// Computes `1 / scale` as the reference does: from the scale before rounding to half precision, and 0 for 0.
#[inline(always)]
fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}
