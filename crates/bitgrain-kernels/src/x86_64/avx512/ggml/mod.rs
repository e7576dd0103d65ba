//! llama.cpp's blocks: kernels for the formats that are used most, the portable layouts compiled with AVX-512 for the
//! others.

mod extremes;
mod nibbles;
mod pairs;
mod q8_0;
mod scales;

use crate::GgmlBlock;
use crate::ggml::layout;
use crate::ggml::rounded::Rounded;
use crate::x86_64::stream;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn dequantize_ggml(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    stream::in_stages(block.weights(), block.bytes(), bytes, out, |bytes, out| decode(block, bytes, out));
}

#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
fn decode(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    match block {
        GgmlBlock::Q4_0 => nibbles::decode_q4_0(bytes, out),
        GgmlBlock::Q4_1 => nibbles::decode_q4_1(bytes, out),
        GgmlBlock::Q5_0 => nibbles::decode_q5_0(bytes, out),
        GgmlBlock::Q5_1 => nibbles::decode_q5_1(bytes, out),
        GgmlBlock::IQ4_NL => nibbles::decode_iq4_nl(bytes, out),
        GgmlBlock::MXFP4 => nibbles::decode_mxfp4(bytes, out),
        GgmlBlock::Q8_0 => q8_0::decode(bytes, out),
        other => layout::decode(other, bytes, out),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn round_ggml(format: Rounded, values: &[f32], out: &mut [u8]) {
    match format {
        Rounded::Q4_0 => pairs::encode::<18, 4, true>(format, values, out),
        Rounded::Q4_1 => pairs::encode::<20, 4, false>(format, values, out),
        Rounded::Q5_0 => pairs::encode::<22, 5, true>(format, values, out),
        Rounded::Q5_1 => pairs::encode::<24, 5, false>(format, values, out),
        Rounded::Q8_0 => q8_0::encode(values, out),
        other => encode_portably(other, values, out),
    }
}

/// Formats without a kernel, and what is left over by those that have one: fewer than sixteen blocks.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
fn encode_portably(format: Rounded, values: &[f32], out: &mut [u8]) {
    layout::encode(format, values, out);
}
