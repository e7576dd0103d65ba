//! llama.cpp's blocks: kernels that take several at a time, and the portable layouts compiled with AVX-512 for the
//! rest.

use bitgrain_isa::avx512;

mod extremes;
mod mxfp4;
mod nearest;
mod nibbles;
mod pairs;
mod q8_0;
mod rows;
mod scales;
mod ternary;

use crate::ggml::GgmlBlock;
use crate::ggml::layout::{self, q2_k, q3_k, q4_k, q5_k, q6_k, tq1_0, tq2_0};
use crate::ggml::rounded::Rounded;
use crate::x86_64::stream;

#[avx512]
pub(crate) fn dequantize_ggml(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    stream::in_stages(block.weights(), block.bytes(), bytes, out, |bytes, out| decode(block, bytes, out));
}

#[inline(never)]
#[avx512]
fn decode(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    match block {
        GgmlBlock::Q4_0 => nibbles::decode_q4_0(bytes, out),
        GgmlBlock::Q4_1 => nibbles::decode_q4_1(bytes, out),
        GgmlBlock::Q5_0 => nibbles::decode_q5_0(bytes, out),
        GgmlBlock::Q5_1 => nibbles::decode_q5_1(bytes, out),
        GgmlBlock::IQ4_NL => nibbles::decode_iq4_nl(bytes, out),
        GgmlBlock::MXFP4 => nibbles::decode_mxfp4(bytes, out),
        GgmlBlock::Q8_0 => q8_0::decode(bytes, out),
        GgmlBlock::Q2_K => rows::each!(q2_k::unpack, bytes, out),
        GgmlBlock::Q3_K => rows::each!(q3_k::unpack, bytes, out),
        GgmlBlock::Q4_K => rows::each!(q4_k::unpack, bytes, out),
        GgmlBlock::Q5_K => rows::each!(q5_k::unpack, bytes, out),
        GgmlBlock::Q6_K => rows::each!(q6_k::unpack, bytes, out),
        GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => layout::decode(block, bytes, out),
    }
}

#[avx512]
pub(crate) fn round_ggml(format: Rounded, values: &[f32], out: &mut [u8]) {
    match format {
        Rounded::Q4_0 => pairs::encode::<18, 4, true>(format, values, out),
        Rounded::Q4_1 => pairs::encode::<20, 4, false>(format, values, out),
        Rounded::Q5_0 => pairs::encode::<22, 5, true>(format, values, out),
        Rounded::Q5_1 => pairs::encode::<24, 5, false>(format, values, out),
        Rounded::Q8_0 => q8_0::encode(values, out),
        Rounded::TQ1_0 => ternary::each!(TQ1_0, tq1_0, values, out),
        Rounded::TQ2_0 => ternary::each!(TQ2_0, tq2_0, values, out),
        Rounded::MXFP4 => mxfp4::encode(values, out),
    }
}

/// What the kernels leave over: blocks that are not ordinary, and at the end fewer than sixteen blocks.
#[cold]
#[inline(never)]
#[avx512]
fn encode_portably(format: Rounded, values: &[f32], out: &mut [u8]) {
    layout::encode(format, values, out);
}
