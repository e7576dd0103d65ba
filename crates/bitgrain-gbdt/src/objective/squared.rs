//! Squared error, for means.

use super::constant::mean;
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::model::Link;

/// `(score - target)^2 / 2`: fits the mean. Name: `squared`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Squared;

impl Objective for Squared {
    fn name(&self) -> String {
        "squared".into()
    }

    fn link(&self) -> Link {
        Link::Identity
    }

    fn constant_hessian(&self) -> bool {
        true
    }

    fn shifts(&self) -> bool {
        true
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        check_finite(targets, || self.name())
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        vec![mean(targets, weights)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        out.fill_constant(batch, |score, target| score - target);
    }
}
