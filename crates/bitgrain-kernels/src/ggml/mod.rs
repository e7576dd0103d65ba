//! Block formats of llama.cpp. Spec: `spec/ggml.md`.
//!
//! Both directions return exactly the bits of the reference, on every backend: the reference sums in order and without
//! fused multiply-adds, so backends process several blocks in parallel and keep the order within each block.

mod block;
mod codebook;
mod dequantize;
pub(crate) mod layout;
mod parts;
mod quantize;
pub(crate) mod rounded;
pub(crate) mod scale_search;
mod wire;

pub use block::GgmlBlock;
pub use codebook::{CodebookBlock, dequantize_codebook, quantize_codebook};
pub use dequantize::dequantize_ggml;
pub use parts::{BlockJoiner, BlockParts};
pub use quantize::quantize_ggml;
pub use wire::{BlockQ4_0, BlockQ8_0};

pub(crate) use layout::mxfp4::step as mxfp4_step;
