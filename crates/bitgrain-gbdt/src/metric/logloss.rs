//! Probabilities of two classes: how surprising the truth is, and how often the likelier class is wrong.

use super::mean_loss::mean_loss;
use super::{Evaluated, Metric, MetricError};

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

    fn evaluate(&self, data: &Evaluated<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            TAKES,
            |target, prediction| {
                let share = prediction.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
                by_class(target, -share.ln(), -(1.0 - share).ln())
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

    fn evaluate(&self, data: &Evaluated<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            TAKES,
            |target, prediction| {
                if prediction.is_nan() {
                    return f64::NAN;
                }
                let said_one = f64::from(u8::from(prediction > 0.5));
                by_class(target, 1.0 - said_one, said_one)
            },
        )
    }
}

fn by_class(target: f64, of_one: f64, of_zero: f64) -> f64 {
    if target == 1.0 {
        of_one
    } else if target == 0.0 {
        of_zero
    } else {
        f64::NAN
    }
}
