//! Pinball loss, for quantiles.

use super::constant::{quantile, quantile_of_pairs};
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{Metric, Pinball};
use crate::model::Link;

/// `alpha * (target - score)` below the target, `(1 - alpha) * (score - target)` above it: fits the `alpha` quantile.
/// Leaf values are quantiles of the residuals. Name: `quantile:0.9`.
///
/// The quantile is the value that minimizes the loss: a residual, or the midpoint of two. On small tables training
/// therefore ends early: at `alpha` 0.9, the value of a leaf with fewer than ten rows is its largest residual, which is
/// soon 0. LightGBM interpolates between residuals instead and continues.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    alpha: f64,
}

impl Quantile {
    /// Creates a loss for the `alpha` quantile.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] unless `alpha` is between 0 and 1, exclusive.
    pub fn new(alpha: f64) -> Result<Self, ObjectiveError> {
        if alpha > 0.0 && alpha < 1.0 {
            return Ok(Self { alpha });
        }
        let takes = "a quantile between 0 and 1";
        Err(ObjectiveError::Parameter { objective: "quantile", parameter: alpha.to_string(), takes })
    }

    /// Quantile that is fitted.
    #[must_use]
    pub const fn alpha(self) -> f64 {
        self.alpha
    }
}

/// `alpha` is 0.9, as in LightGBM.
impl Default for Quantile {
    fn default() -> Self {
        Self { alpha: 0.9 }
    }
}

impl Objective for Quantile {
    fn name(&self) -> String {
        format!("quantile:{}", self.alpha)
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
        vec![quantile(targets, weights, self.alpha)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let (above, below) = ((1.0 - self.alpha) as f32, -self.alpha as f32);
        out.fill_constant(batch, |score, target| if score >= target { above } else { below });
    }

    fn renew_leaf(&self, residuals: &mut [(f32, f32)]) -> Option<f64> {
        Some(quantile_of_pairs(residuals, self.alpha))
    }

    fn renews_leaves(&self) -> bool {
        true
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Pinball::of(*self))
    }
}
