//! Gradients in f32, or quantized to pairs of 8 or 4 bits.

mod precision;
mod rows;
mod steps;
mod storage;

pub use precision::GradientPrecision;
pub(crate) use rows::GradientRows;
pub use rows::{Gradients, GradientsF32, GradientsPair4, GradientsPair8};
pub(crate) use steps::{Codes, Steps};
pub use storage::{GradientError, GradientStorage};
