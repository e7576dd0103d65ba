//! llama.cpp's blocks: kernels for four blocks at a time or one, and the portable layouts for the rest.

mod extremes;
mod mxfp4;
mod nearest;
mod nibbles;
mod pairs;
mod rows;

use crate::ggml::GgmlBlock;
use crate::ggml::layout::{self, q2_k, q3_k, q4_k, q5_k, q6_k, tq1_0, tq2_0};
use crate::ggml::rounded::Rounded;
use crate::narrow::register::Narrow;

/// Decodes each block of two slices with the layout's `unpack`. A macro, so that it is inlined; see `layout`.
macro_rules! decode_rows {
    ($isa:ident, $layout:ident, $bytes:ident, $out:ident) => {
        for (bytes, out) in $bytes.as_chunks().0.iter().zip($out.as_chunks_mut().0) {
            rows::write($isa, &$layout::unpack(bytes), out);
        }
    };
}

pub(crate) fn dequantize_ggml<I: Narrow>(isa: I, block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    match block {
        GgmlBlock::Q4_0 => nibbles::decode_q4_0(isa, bytes, out),
        GgmlBlock::Q4_1 => nibbles::decode_q4_1(isa, bytes, out),
        GgmlBlock::Q5_0 => nibbles::decode_q5_0(isa, bytes, out),
        GgmlBlock::Q5_1 => nibbles::decode_q5_1(isa, bytes, out),
        GgmlBlock::IQ4_NL => nibbles::decode_iq4_nl(isa, bytes, out),
        GgmlBlock::MXFP4 => nibbles::decode_mxfp4(isa, bytes, out),
        GgmlBlock::Q8_0 => nearest::decode_q8_0(isa, bytes, out),
        GgmlBlock::Q2_K => decode_rows!(isa, q2_k, bytes, out),
        GgmlBlock::Q3_K => decode_rows!(isa, q3_k, bytes, out),
        GgmlBlock::Q4_K => decode_rows!(isa, q4_k, bytes, out),
        GgmlBlock::Q5_K => decode_rows!(isa, q5_k, bytes, out),
        GgmlBlock::Q6_K => decode_rows!(isa, q6_k, bytes, out),
        GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => layout::decode(block, bytes, out),
    }
}

pub(crate) fn round_ggml<I: Narrow>(isa: I, format: Rounded, values: &[f32], out: &mut [u8]) {
    match format {
        Rounded::Q4_0 => pairs::encode::<18, 4, true>(isa, format, values, out),
        Rounded::Q4_1 => pairs::encode::<20, 4, false>(isa, format, values, out),
        Rounded::Q5_0 => pairs::encode::<22, 5, true>(isa, format, values, out),
        Rounded::Q5_1 => pairs::encode::<24, 5, false>(isa, format, values, out),
        Rounded::Q8_0 => nearest::encode_q8_0(isa, values, out),
        Rounded::TQ1_0 => {
            for (values, out) in values.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
                let (codes, scale) = nearest::ternary(isa, values);
                tq1_0::pack(&codes, scale, out);
            }
        }
        Rounded::TQ2_0 => {
            for (values, out) in values.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
                let (codes, scale) = nearest::ternary(isa, values);
                tq2_0::pack(&codes, scale, out);
            }
        }
        Rounded::MXFP4 => mxfp4::encode(isa, values, out),
    }
}
