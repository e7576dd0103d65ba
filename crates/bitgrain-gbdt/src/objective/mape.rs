//! Absolute percentage error.

use super::constant::{quantile, quantile_of_pairs};
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{self, Metric};
use crate::model::Link;

/// `|score - target| / max(1, |target|)`, as in LightGBM: fits a median that weighs small targets more. Leaf values are
/// weighted medians of the residuals. Name: `mape`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mape;

/// Returns the weight of a target.
fn share(target: f32) -> f32 {
    1.0 / target.abs().max(1.0)
}

impl Objective for Mape {
    fn name(&self) -> String {
        "mape".into()
    }

    fn link(&self) -> Link {
        Link::Identity
    }

    fn constant_hessian(&self) -> bool {
        true
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        check_finite(targets, || self.name())
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        let own = |(row, &target): (usize, &f32)| share(target) * weights.map_or(1.0, |weights| weights[row]);
        let shares: Vec<f32> = targets.iter().enumerate().map(own).collect();
        vec![quantile(targets, Some(&shares), 0.5)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        out.fill_constant(batch, |score, target| {
            share(target) * (f32::from(u8::from(score > target)) - f32::from(u8::from(score < target)))
        });
    }

    fn leaf_weight(&self, target: f32, weight: f32) -> f32 {
        share(target) * weight
    }

    fn renew_leaf(&self, residuals: &mut [(f32, f32)]) -> Option<f64> {
        Some(quantile_of_pairs(residuals, 0.5))
    }

    fn renews_leaves(&self) -> bool {
        true
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(metric::Mape::above(1.0))
    }
}
