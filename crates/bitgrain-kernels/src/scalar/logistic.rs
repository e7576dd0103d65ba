//! Gradients of the logistic loss: the definition, which vector backends compile for their own registers.

use super::exp::exp_normal;

pub(crate) fn logistic_gradients(scores: &[f32], targets: &[f32], grads: &mut [f32], hess: &mut [f32]) {
    logistic_gradients_each(scores, targets, grads, hess);
}

/// Loop for a backend to compile.
#[inline(always)]
pub(crate) fn logistic_gradients_each(scores: &[f32], targets: &[f32], grads: &mut [f32], hess: &mut [f32]) {
    for (((&score, &target), grad), hess) in scores.iter().zip(targets).zip(grads).zip(hess) {
        // The sigmoids of |score| and of -|score|, neither computed as 1 minus the other, which would cancel.
        let small = exp_normal(-score.abs());
        let near_one = 1.0 / (1.0 + small);
        let near_zero = small * near_one;
        let positive = target > 0.5;
        // The score from the other class's view: the gradient is that class's probability, up to the sign.
        let against = if positive { -score } else { score };
        let error = if against < 0.0 { near_zero } else { near_one };
        *grad = if positive { -error } else { error };
        *hess = near_zero * near_one;
    }
}
