//! Absolute errors.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};

/// Mean absolute error. Name: `mae`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mae;

impl Metric for Mae {
    fn name(&self) -> String {
        "mae".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(data, || self.name(), "numbers", |target, prediction| (target - prediction).abs())
    }
}

/// Mean absolute percentage error. Targets below a limit count as that limit: 2.2e-16 by default, so that an error at 0 is
/// huge rather than undefined; 1 in LightGBM. Name: `mape`, `mape:1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mape {
    least: f64,
}

impl Mape {
    /// Creates the metric with a lower limit of the magnitude of targets.
    #[must_use]
    pub const fn above(least: f64) -> Self {
        Self { least }
    }
}

impl Default for Mape {
    fn default() -> Self {
        Self::above(f64::EPSILON)
    }
}

impl Metric for Mape {
    fn name(&self) -> String {
        if self.least == f64::EPSILON { "mape".into() } else { format!("mape:{}", self.least) }
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            "numbers",
            |target, prediction| (target - prediction).abs() / target.abs().max(self.least),
        )
    }
}
