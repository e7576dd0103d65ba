//! Tweedie loss, for means of nonnegative targets with many zeros.

use super::constant::log_mean;
use super::exponential::{BLOCK, exp_scaled, for_blocks, limited};
use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::metric::{Metric, TweedieDeviance};
use crate::model::Link;

/// `exp((2 - p) score) / (2 - p) - target * exp((1 - p) score) / (1 - p)`, for nonnegative targets whose variance grows
/// as the power `p` of their mean. The score is the logarithm of the mean. Name: `tweedie:1.5`.
///
/// Both terms of a gradient are clipped to 1e28.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tweedie {
    power: f64,
}

impl Tweedie {
    /// Creates a loss with a variance power between 1 ([`Poisson`](super::Poisson)) and 2 ([`Gamma`](super::Gamma)),
    /// exclusive.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] unless the power is between 1 and 2.
    pub fn new(power: f64) -> Result<Self, ObjectiveError> {
        if power > 1.0 && power < 2.0 {
            return Ok(Self { power });
        }
        let takes = "a variance power between 1 (`poisson`) and 2 (`gamma`)";
        Err(ObjectiveError::Parameter { objective: "tweedie", parameter: power.to_string(), takes })
    }

    /// Variance power.
    #[must_use]
    pub const fn power(self) -> f64 {
        self.power
    }
}

/// The power is 1.5, as in LightGBM.
impl Default for Tweedie {
    fn default() -> Self {
        Self { power: 1.5 }
    }
}

impl Objective for Tweedie {
    fn name(&self) -> String {
        format!("tweedie:{}", self.power)
    }

    fn link(&self) -> Link {
        Link::Exponential
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        targets::check(targets, || self.name(), "finite targets of at least 0", |t| t.is_finite() && t >= 0.0)
    }

    fn check_training(&self, targets: &[f32], weights: Option<&[f32]>) -> Result<(), ObjectiveError> {
        targets::check_some(targets, weights, || self.name())
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        vec![log_mean(targets, weights)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let (falling, rising) = ((1.0 - self.power) as f32, (2.0 - self.power) as f32);
        for_blocks(batch.single(), batch.targets, out.single(), |scores, targets, grads, hess| {
            let (mut downs, mut ups) = ([0.0; BLOCK], [0.0; BLOCK]);
            exp_scaled(scores, falling, &mut downs);
            exp_scaled(scores, rising, &mut ups);
            for ((((grad, hess), down), up), target) in grads.iter_mut().zip(hess).zip(downs).zip(ups).zip(targets) {
                let down = limited(target * down);
                *grad = up - down;
                *hess = rising * up - falling * down;
            }
        });
        out.apply_weights(batch.weights);
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(TweedieDeviance::of(*self))
    }
}
