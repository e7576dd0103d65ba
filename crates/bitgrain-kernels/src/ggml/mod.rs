//! llama.cpp's block formats: f32 to their bytes and back. Spec: `spec/ggml.md`.
//!
//! Both directions return exactly what the reference does, on every backend: the reference sums in order and without
//! fused multiply-adds, so backends work on several blocks side by side and keep the order inside each.

mod block;
mod dequantize;
pub(crate) mod layout;
mod quantize;
pub(crate) mod rounded;
pub(crate) mod scale_search;
mod wire;

pub use block::GgmlBlock;
pub use dequantize::dequantize_ggml;
pub use quantize::quantize_ggml;
pub use wire::{BlockQ4_0, BlockQ8_0};
