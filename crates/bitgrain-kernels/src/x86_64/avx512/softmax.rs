//! Gradients of the softmax loss: the definition, compiled for wider registers.

use crate::scalar::softmax_gradients_each;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn softmax_gradients(
    scores: &[&[f32]],
    targets: &[f32],
    factor: f32,
    grads: &mut [&mut [f32]],
    hess: &mut [&mut [f32]],
) {
    softmax_gradients_each(scores, targets, factor, grads, hess);
}
