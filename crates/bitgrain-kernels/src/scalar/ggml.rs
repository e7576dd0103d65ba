//! llama.cpp's blocks, one at a time: the portable layouts are the definition.

use crate::ggml::GgmlBlock;
use crate::ggml::layout;
use crate::ggml::rounded::Rounded;

pub(crate) fn dequantize_ggml(block: GgmlBlock, bytes: &[u8], out: &mut [f32]) {
    layout::decode(block, bytes, out);
}

pub(crate) fn round_ggml(format: Rounded, values: &[f32], out: &mut [u8]) {
    layout::encode(format, values, out);
}
