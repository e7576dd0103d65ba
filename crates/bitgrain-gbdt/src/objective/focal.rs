//! Focal loss, for two classes of which one is rare.

use super::constant::weight_of;
use super::{Batch, GradientBatch, Objective, ObjectiveError, targets};
use crate::math::{exp, ln};
use crate::metric::sums;
use crate::model::Link;

/// `-(1 - p)^gamma ln(p)` of the probability `p` of a row's class: rows that are classified well count less than in the
/// logistic loss, which is `gamma` 0. Name: `focal:2`.
///
/// Probabilities of a model are less extreme than those of the logistic loss. The loss is not convex; hessians are the
/// magnitude of the gradient times `p`, which is that of the logistic loss for `gamma` 0 and never negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Focal {
    gamma: f64,
}

impl Focal {
    /// Creates a focal loss.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] unless `gamma` is a number from 0 to 100.
    pub fn new(gamma: f64) -> Result<Self, ObjectiveError> {
        if (0.0..=100.0).contains(&gamma) {
            return Ok(Self { gamma });
        }
        let takes = "a number from 0 to 100";
        Err(ObjectiveError::Parameter { objective: "focal", parameter: gamma.to_string(), takes })
    }

    /// Exponent of the probability of the other class.
    #[must_use]
    pub const fn gamma(self) -> f64 {
        self.gamma
    }

    /// Returns the magnitude of the slope, and the probability of the row's class, given its log-odds.
    fn slope(self, odds: f64) -> (f64, f64) {
        // Neither probability is 1 minus the other, which would cancel.
        let small = exp(-odds.abs());
        let (near_one, near_zero) = (1.0 / (1.0 + small), small / (1.0 + small));
        let (own, other) = if odds >= 0.0 { (near_one, near_zero) } else { (near_zero, near_one) };
        let log = if own > 0.0 { own * ln(own) } else { 0.0 };
        let factor = if self.gamma == 0.0 { 1.0 } else { exp(self.gamma * ln(other.max(f64::MIN_POSITIVE))) };
        (factor * (other - self.gamma * log), own)
    }
}

/// `gamma` is 2.
impl Default for Focal {
    fn default() -> Self {
        Self { gamma: 2.0 }
    }
}

impl Objective for Focal {
    fn name(&self) -> String {
        format!("focal:{}", self.gamma)
    }

    fn link(&self) -> Link {
        Link::Logistic { slope: 1.0 }
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        targets::check(targets, || self.name(), "targets 0 or 1", |target| target == 0.0 || target == 1.0)
    }

    /// Returns the best constant by bisection; ±34.5 if all targets are equal.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        let [zeros, ones] = sums(targets.len(), |row| {
            let weight = weight_of(weights, row);
            if targets[row] > 0.5 { [0.0, weight] } else { [weight, 0.0] }
        });
        if zeros + ones == 0.0 {
            return vec![0.0];
        }
        let (mut low, mut high) = (-34.5, 34.5);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if ones * self.slope(middle).0 > zeros * self.slope(-middle).0 { low = middle } else { high = middle }
        }
        vec![f64::midpoint(low, high)]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        let (grads, hess) = out.single();
        for (((grad, hess), &score), &target) in grads.iter_mut().zip(hess).zip(batch.single()).zip(batch.targets) {
            let one = target > 0.5;
            let (slope, own) = self.slope(f64::from(if one { score } else { -score }));
            #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
            let (size, curve) = (slope as f32, (slope * own) as f32);
            *grad = if one { -size } else { size };
            *hess = curve;
        }
        out.apply_weights(batch.weights);
    }
}
