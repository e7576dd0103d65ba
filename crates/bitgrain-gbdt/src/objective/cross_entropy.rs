//! Cross-entropy of probabilities, for soft labels.

use super::constant::{LEAST_SHARE, mean};
use super::exponential::{BLOCK, exp_scaled, for_blocks};
use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::metric::{CrossEntropy as Measured, Metric};
use crate::model::Link;

/// Logistic loss of targets from 0 to 1, such as shares or probabilities of another model. The score is the log-odds, the
/// prediction a probability. Name: `cross_entropy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CrossEntropy;

impl Objective for CrossEntropy {
    fn name(&self) -> String {
        "cross_entropy".into()
    }

    fn link(&self) -> Link {
        Link::Logistic { slope: 1.0 }
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        targets::check(targets, || self.name(), "targets from 0 to 1", |target| (0.0..=1.0).contains(&target))
    }

    /// Returns the log-odds of the mean; ±34.5 if it is 0 or 1.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        if weights.is_some_and(|weights| weights.iter().all(|&weight| weight == 0.0)) || targets.is_empty() {
            return vec![0.0];
        }
        let share = mean(targets, weights).clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
        vec![libm::log(share / (1.0 - share))]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        for_blocks(batch.single(), batch.targets, out.single(), |scores, targets, grads, hess| {
            let mut odds = [0.0; BLOCK];
            exp_scaled(scores, -1.0, &mut odds);
            for (((grad, hess), against), target) in grads.iter_mut().zip(hess).zip(odds).zip(targets) {
                let one = 1.0 / (1.0 + against);
                let zero = against * one;
                // Not the difference from 1 of a probability near 1, which would cancel.
                *grad = if *target > 0.5 { (1.0 - target) - zero } else { one - target };
                *hess = zero * one;
            }
        });
        out.apply_weights(batch.weights);
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Measured)
    }
}
