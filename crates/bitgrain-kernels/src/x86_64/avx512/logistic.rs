//! Gradients of the logistic loss: the definition, compiled for wider registers.

use crate::scalar::logistic_gradients_each;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn logistic_gradients(scores: &[f32], targets: &[f32], grads: &mut [f32], hess: &mut [f32]) {
    logistic_gradients_each(scores, targets, grads, hess);
}
