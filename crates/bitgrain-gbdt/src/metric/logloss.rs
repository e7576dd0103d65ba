//! Log loss and error rate of two classes.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};
use crate::math::ln;

const TAKES: &str = "targets 0 or 1 and predictions other than NaN";

/// Minimum distance of probabilities from 0 and 1, as in LightGBM.
pub(super) const LEAST_SHARE: f64 = 1e-15;

/// Mean negative log-likelihood. Probabilities are clipped to 1e-15 away from 0 and 1, so that a row costs at most
/// 34.5. Name: `logloss`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logloss;

impl Metric for Logloss {
    fn name(&self) -> String {
        "logloss".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            TAKES,
            |target, prediction| {
                let share = prediction.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
                -ln(checked(target, (1.0 - target - share).abs()))
            },
        )
    }
}

/// Share of misclassified rows; a probability of 0.5 predicts class 0. Name: `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorRate;

impl Metric for ErrorRate {
    fn name(&self) -> String {
        "error".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            TAKES,
            |target, prediction| {
                let said_one = f64::from(u8::from(prediction > 0.5));
                checked(target, if prediction.is_nan() { f64::NAN } else { (target - said_one).abs() })
            },
        )
    }
}

/// Returns `value`, or NaN if the target is neither 0 nor 1. Branch-free, because targets are unpredictable branches.
fn checked(target: f64, value: f64) -> f64 {
    if target * (1.0 - target) == 0.0 { value } else { f64::NAN }
}
