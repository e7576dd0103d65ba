//! Poisson loss, for means of counts.

use super::constant::log_mean;
use super::exponential::{BLOCK, exp_scaled, for_blocks};
use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::model::Link;

/// `exp(score) - target * score`, for counts. The score is the logarithm of the mean. Name: `poisson`.
///
/// Hessians are `exp(score + 0.7)`, larger than the exact ones, as in LightGBM: steps from a low mean would otherwise
/// overshoot. `exp(score)` is clipped to 1e28.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Poisson;

/// `exp(0.7)`, the factor of the hessian.
const CAUTION: f32 = 2.013_752_7;

impl Objective for Poisson {
    fn name(&self) -> String {
        "poisson".into()
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        targets::check(targets, || self.name(), "finite targets of at least 0", |t| t.is_finite() && t >= 0.0)
    }

    fn check_training(&self, targets: &[f32], weights: Option<&[f32]>) -> Result<(), ObjectiveError> {
        targets::check_some(targets, weights, || self.name())
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        vec![log_mean(targets, weights)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        for_blocks(batch.single(), batch.targets, out.single(), |scores, targets, grads, hess| {
            let mut means = [0.0; BLOCK];
            exp_scaled(scores, 1.0, &mut means);
            for (((grad, hess), mean), target) in grads.iter_mut().zip(hess).zip(means).zip(targets) {
                *grad = mean - target;
                *hess = mean * CAUTION;
            }
        });
        out.apply_weights(batch.weights);
    }
}
