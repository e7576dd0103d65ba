//! Squared errors.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};

/// Mean squared error. Name: `mse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mse;

impl Metric for Mse {
    fn name(&self) -> String {
        "mse".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(data, || self.name(), "numbers", |target, prediction| (target - prediction).powi(2))
    }
}

/// Root mean squared error. Name: `rmse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rmse;

impl Metric for Rmse {
    fn name(&self) -> String {
        "rmse".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let square = mean_loss(data, || self.name(), "numbers", |target, prediction| (target - prediction).powi(2))?;
        Ok(square.sqrt())
    }
}
