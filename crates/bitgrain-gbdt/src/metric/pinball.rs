//! Pinball loss of predicted quantiles.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};
use crate::objective::Quantile;

/// Mean pinball loss: a prediction that is too low costs `alpha` times the error, one that is too high `1 - alpha`
/// times. Name: `pinball:0.9`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pinball {
    of: Quantile,
}

impl Pinball {
    /// Returns the loss that an objective minimizes.
    #[must_use]
    pub const fn of(objective: Quantile) -> Self {
        Self { of: objective }
    }
}

impl Metric for Pinball {
    fn name(&self) -> String {
        format!("pinball:{}", self.of.alpha())
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let alpha = self.of.alpha();
        mean_loss(
            data,
            || self.name(),
            "numbers",
            |target, prediction| {
                let error = target - prediction;
                if error >= 0.0 { alpha * error } else { (alpha - 1.0) * error }
            },
        )
    }
}
