//! Weight formats: 21 dtypes with scales, llama.cpp blocks, and their errors. Specs: `spec/weights.md`, `spec/ggml.md`.
//!
//! A weight matrix has contiguous rows. [`WeightFormat`] names a storage format; [`QuantizedTensor`] holds a matrix in
//! memory; `encode_rows` and `decode_rows` work on any run of rows, so that a large matrix can be streamed or split
//! between threads and still gives the same bytes.

mod calibrate;
mod dtype;
mod fallback;
mod format;
mod grid;
mod half_quadratic;
mod names;
pub mod optimum;
mod parts;
mod q4f32;
mod scaled;
mod scaling;
mod tensor;

pub use bitgrain_kernels::BlockLen;
pub use bitgrain_kernels::ggml::{CodebookBlock, GgmlBlock};
pub use calibrate::Calibration;
pub use dtype::DType;
pub use format::WeightFormat;
pub use grid::Grid;
pub use parts::{Parts, PartsBuf, PartsMut, Sizes};
pub use q4f32::BlockQ4F32;
pub use scaled::{ScaledFormat, check_finite};
pub use scaling::Scaling;
pub use tensor::QuantizedTensor;
