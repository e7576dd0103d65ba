//! Cross-entropy and squared error of probabilities.

use super::logloss::LEAST_SHARE;
use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};
use crate::math::ln;

/// Mean cross-entropy of targets from 0 to 1 and probabilities, which are clipped to 1e-15 away from 0 and 1. Name:
/// `cross_entropy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CrossEntropy;

impl Metric for CrossEntropy {
    fn name(&self) -> String {
        "cross_entropy".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            "targets from 0 to 1 and predictions other than NaN",
            |target, prediction| {
                if !(0.0..=1.0).contains(&target) || prediction.is_nan() {
                    return f64::NAN;
                }
                let share = prediction.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
                -target * ln(share) - (1.0 - target) * ln(1.0 - share)
            },
        )
    }
}

/// Mean squared difference of a probability and its target, 0 or 1. Name: `brier`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Brier;

impl Metric for Brier {
    fn name(&self) -> String {
        "brier".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            "targets 0 or 1 and predictions other than NaN",
            |target, prediction| {
                let valid = target == 0.0 || target == 1.0;
                if valid { (target - prediction).powi(2) } else { f64::NAN }
            },
        )
    }
}
