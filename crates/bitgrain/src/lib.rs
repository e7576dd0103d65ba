//! One quantization engine for the numbers machine learning runs on.
pub use bitgrain_codec as codec;
pub use bitgrain_kernels as kernels;
