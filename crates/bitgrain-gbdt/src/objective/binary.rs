//! Logistic loss, for probabilities of two classes.

use bitgrain_kernels::Backend;
use bitgrain_kernels::gradients::logistic_gradients;

use super::constant::{LEAST_SHARE, mean};
use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::model::Link;

/// `ln(1 + exp(-score))` for targets of 1, `ln(1 + exp(score))` for targets of 0. The score is the log-odds. Name:
/// `binary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Binary;

impl Objective for Binary {
    fn name(&self) -> String {
        "binary".into()
    }

    fn link(&self) -> Link {
        Link::Logistic { slope: 1.0 }
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        targets::check(targets, || self.name(), "targets 0 or 1", |target| target == 0.0 || target == 1.0)
    }

    /// Returns the log-odds; ±34.5 if all targets are equal.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        if weights.is_some_and(|weights| weights.iter().all(|&weight| weight == 0.0)) || targets.is_empty() {
            return vec![0.0];
        }
        let share = mean(targets, weights).clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
        vec![libm::log(share / (1.0 - share))]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        let (grads, hess) = out.single();
        let done = logistic_gradients(Backend::best(), batch.single(), batch.targets, grads, hess);
        debug_assert!(done.is_ok(), "a batch has one target, gradient and hessian per score");
        out.apply_weights(batch.weights);
    }
}
