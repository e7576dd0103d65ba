//! Huber loss.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};
use crate::objective;

/// Mean Huber loss: quadratic for errors up to `delta`, linear beyond. Name: `huber:0.9`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Huber {
    of: objective::Huber,
}

impl Huber {
    /// Returns the loss that an objective minimizes.
    #[must_use]
    pub const fn of(objective: objective::Huber) -> Self {
        Self { of: objective }
    }
}

impl Metric for Huber {
    fn name(&self) -> String {
        format!("huber:{}", self.of.delta())
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let delta = self.of.delta();
        mean_loss(
            data,
            || self.name(),
            "numbers",
            |target, prediction| {
                let error = (target - prediction).abs();
                if error <= delta { 0.5 * error * error } else { delta * (error - 0.5 * delta) }
            },
        )
    }
}
