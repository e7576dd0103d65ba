//! Gamma loss, for means of positive, skewed targets.

use super::constant::log_mean;
use super::exponential::{BLOCK, exp_scaled, for_blocks, limited};
use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::metric::{GammaDeviance, Metric};
use crate::model::Link;

/// `score + target * exp(-score)`, for targets above 0. The score is the logarithm of the mean. Name: `gamma`.
///
/// `target * exp(-score)` is clipped to 1e28.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gamma;

impl Objective for Gamma {
    fn name(&self) -> String {
        "gamma".into()
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        targets::check(targets, || self.name(), "finite targets above 0", |t| t.is_finite() && t > 0.0)
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        vec![log_mean(targets, weights)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        for_blocks(batch.single(), batch.targets, out.single(), |scores, targets, grads, hess| {
            let mut inverses = [0.0; BLOCK];
            exp_scaled(scores, -1.0, &mut inverses);
            for (((grad, hess), inverse), target) in grads.iter_mut().zip(hess).zip(inverses).zip(targets) {
                let ratio = limited(target * inverse);
                *grad = 1.0 - ratio;
                *hess = ratio;
            }
        });
        out.apply_weights(batch.weights);
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(GammaDeviance)
    }
}
