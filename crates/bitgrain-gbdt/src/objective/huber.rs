//! Huber loss, for means that are robust to outliers.

use super::constant::{quantile, weight_of};
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{self, Metric, sums};
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
        // The best constant is where the clipped errors cancel. Each iteration takes a Newton step if it stays within
        // the known bounds, else bisects them; starting from the median, few iterations are needed. All values are
        // relative to the median, so that shifting the targets shifts the constant by exactly as much.
        let median = quantile(targets, weights, 0.5);
        let relative = |target: f32| f64::from(target) - median;
        let ends = |ends: (f64, f64), &target: &f32| (ends.0.min(relative(target)), ends.1.max(relative(target)));
        let (mut low, mut high) = targets.iter().fold((f64::MAX, f64::MIN), ends);
        let mut constant = 0.0;
        for _ in 0..100 {
            let [slope, near] = sums(targets.len(), |row| {
                let (weight, error) = (weight_of(weights, row), constant - relative(targets[row]));
                let near = if error.abs() <= self.delta { weight } else { 0.0 };
                [weight * error.clamp(-self.delta, self.delta), near]
            });
            if slope > 0.0 {
                high = constant
            } else {
                low = constant
            }
            let newton = constant - slope / near;
            let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
            if slope == 0.0 || (next - constant).abs() <= 1e-12 * (self.delta + constant.abs()) {
                break;
            }
            constant = next;
        }
        vec![median + constant]
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
