//! llama.cpp's blocks: kernels for several blocks at a time, and the portable layouts compiled with AVX-512 for the
//! rest.

mod extremes;
mod mxfp4;
mod nearest;
mod nibbles;
mod pairs;
mod q8_0;
mod rows;
mod ternary;

crate::x86_64::ggml::ggml_kernels!(avx512);
