//! Deviances: twice the log-likelihood ratio of a perfect prediction to the predicted mean.
//!
//! A prediction of 0, which results only from scores below -745, counts as the smallest positive number.

use super::mean_loss::mean_loss;
use super::{Metric, MetricError, MetricInput};
use crate::objective::Tweedie;

const FROM_ZERO: &str = "finite targets of at least 0 and finite predictions above 0";
const ABOVE_ZERO: &str = "finite targets and predictions above 0";

/// Mean Poisson deviance. Name: `poisson_deviance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoissonDeviance;

impl Metric for PoissonDeviance {
    fn name(&self) -> String {
        "poisson_deviance".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            FROM_ZERO,
            |target, prediction| {
                let mean = positive(prediction);
                let surprise = if target > 0.0 { target * libm::log(target / mean) } else { 0.0 };
                if target >= 0.0 { 2.0 * (surprise - target + mean) } else { f64::NAN }
            },
        )
    }
}

/// Mean gamma deviance. Name: `gamma_deviance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GammaDeviance;

impl Metric for GammaDeviance {
    fn name(&self) -> String {
        "gamma_deviance".into()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        mean_loss(
            data,
            || self.name(),
            ABOVE_ZERO,
            |target, prediction| {
                let mean = positive(prediction);
                if target > 0.0 { 2.0 * (libm::log(mean / target) + target / mean - 1.0) } else { f64::NAN }
            },
        )
    }
}

/// Mean Tweedie deviance. Name: `tweedie_deviance:1.5`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TweedieDeviance {
    of: Tweedie,
}

impl TweedieDeviance {
    /// Returns the deviance that an objective minimizes.
    #[must_use]
    pub const fn of(objective: Tweedie) -> Self {
        Self { of: objective }
    }
}

impl Metric for TweedieDeviance {
    fn name(&self) -> String {
        format!("tweedie_deviance:{}", self.of.power())
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        let (falling, rising) = (1.0 - self.of.power(), 2.0 - self.of.power());
        mean_loss(
            data,
            || self.name(),
            FROM_ZERO,
            |target, prediction| {
                let mean = positive(prediction);
                if target < 0.0 {
                    return f64::NAN;
                }
                let itself = libm::pow(target, rising) / (falling * rising);
                2.0 * (itself - target * libm::pow(mean, falling) / falling + libm::pow(mean, rising) / rising)
            },
        )
    }
}

/// Returns a prediction bounded away from 0; NaN if it is negative or infinite.
fn positive(prediction: f64) -> f64 {
    if (0.0..=f64::MAX).contains(&prediction) { prediction.max(f64::MIN_POSITIVE) } else { f64::NAN }
}
