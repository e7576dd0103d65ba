//! llama.cpp's block formats: f32 to their bytes and back. Spec: `spec/ggml.md`.
//!
//! Both directions return exactly what the reference does, on every backend: the reference sums in order and without
//! fused multiply-adds, so backends work on several blocks side by side and keep the order inside each.

mod affine_k;
mod block;
mod dequantize;
mod half;
mod iq4_nl;
pub(crate) mod lanes;
pub(crate) mod layout;
pub(crate) mod pair;
mod q2_k;
mod q3_k;
mod q4_k;
mod q5_k;
mod q6_k;
mod quantize;
pub(crate) mod rounded;
pub(crate) mod search;
mod weighted;

pub use block::GgmlBlock;
pub use dequantize::dequantize_ggml;
pub use quantize::quantize_ggml;
