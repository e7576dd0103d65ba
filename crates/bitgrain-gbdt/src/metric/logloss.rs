//! Probabilities of two classes: how surprising the truth is, and how often the likelier class is wrong.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};

const TAKES: &str = "targets 0 and 1 and predictions that are numbers";

/// What probabilities are kept away from 0 and 1 by: LightGBM's bound.
pub(super) const LEAST_SHARE: f64 = 1e-15;

/// Minus the mean logarithm of the probability of the truth. Probabilities are first kept 1e-15 away from 0 and 1, so a
/// row costs 34.5 at most. Name: `logloss`.
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
                -checked(target, (1.0 - target - share).abs()).ln()
            },
        )
    }
}

/// The share of rows whose likelier class is not theirs; a probability of 0.5 is for class 0. Name: `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrongShare;

impl Metric for WrongShare {
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

/// A value, or NaN if the target is neither 0 nor 1. Which of the two it is must not be asked by a branch: no processor
/// guesses it right.
fn checked(target: f64, value: f64) -> f64 {
    if target * (1.0 - target) == 0.0 { value } else { f64::NAN }
}
