//! Absolute error, for medians.

use super::constant::{quantile, quantile_of_pairs};
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{Mae, Metric};
use crate::model::Link;

/// `|score - target|`: fits the median. Leaf values are medians of the residuals. Name: `absolute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Absolute;

impl Objective for Absolute {
    fn name(&self) -> String {
        "absolute".into()
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
        vec![quantile(targets, weights, 0.5)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        out.fill_constant(batch, |score, target| {
            f32::from(u8::from(score > target)) - f32::from(u8::from(score < target))
        });
    }

    fn renew_leaf(&self, residuals: &mut [(f32, f32)]) -> Option<f64> {
        Some(quantile_of_pairs(residuals, 0.5))
    }

    fn renews_leaves(&self) -> bool {
        true
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Mae)
    }
}
