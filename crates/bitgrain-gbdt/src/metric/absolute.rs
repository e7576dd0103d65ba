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

/// Mean absolute percentage error. A target of 0 counts as 2.2e-16, so that an error there is huge rather than
/// undefined. Name: `mape`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mape;

impl Metric for Mape {
    fn name(&self) -> String {
        "mape".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            "numbers",
            |target, prediction| (target - prediction).abs() / target.abs().max(f64::EPSILON),
        )
    }
}
