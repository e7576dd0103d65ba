//! Gradients in f32, or as pairs of 8 or 4 bits.

mod precision;
mod steps;
mod storage;

pub use precision::GradientPrecision;
pub(crate) use steps::{Codes, Steps};
pub use storage::{GradientError, GradientStorage, Gradients, GradientsF32, GradientsPair4, GradientsPair8};
