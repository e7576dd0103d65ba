//! Exponentials: the definition, compiled for wider registers.

use crate::scalar::{exp_each, sigmoid_each};

#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn exp(values: &[f32], out: &mut [f32]) {
    exp_each(values, out);
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn sigmoid(values: &[f32], out: &mut [f32]) {
    sigmoid_each(values, out);
}
