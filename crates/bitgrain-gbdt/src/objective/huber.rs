//! Huber loss, for means that are robust to outliers.

use super::minimum::best_shift;
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{self, Metric};
use crate::model::Link;

/// Half the squared error for errors up to `delta`, linear beyond. Name: `huber:0.9`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// Creates a Huber loss that is linear from an error of `delta` on.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] unless `delta` is a finite number above 0.
    pub fn new(delta: f64) -> Result<Self, ObjectiveError> {
        // Gradients are f32: a value outside its normal range would become 0 or infinite.
        if delta >= f64::from(f32::MIN_POSITIVE) && delta <= f64::from(f32::MAX) {
            return Ok(Self { delta });
        }
        let takes = "a number above 0";
        Err(ObjectiveError::Parameter { objective: "huber", parameter: delta.to_string(), takes })
    }

    /// Error from which the loss is linear.
    #[must_use]
    pub const fn delta(self) -> f64 {
        self.delta
    }
}

/// `delta` is 0.9, as in LightGBM.
impl Default for Huber {
    fn default() -> Self {
        Self { delta: 0.9 }
    }
}

impl Objective for Huber {
    fn name(&self) -> String {
        format!("huber:{}", self.delta)
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
        let delta = self.delta;
        vec![best_shift(targets, weights, delta, |error| {
            (error.clamp(-delta, delta), if error.abs() <= delta { 1.0 } else { 0.0 })
        })]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let delta = self.delta as f32;
        out.fill_constant(batch, |score, target| (score - target).clamp(-delta, delta));
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(metric::Huber::of(*self))
    }
}
