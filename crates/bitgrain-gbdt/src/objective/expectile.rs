//! Asymmetric squared error, for expectiles.

use super::minimum::best_shift;
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::model::Link;

/// Half the squared error, times `alpha` below the target and `1 - alpha` above it: fits the `alpha` expectile, which is
/// the mean for 0.5. Name: `expectile:0.9`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expectile {
    alpha: f64,
}

impl Expectile {
    /// Creates a loss for the `alpha` expectile.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] unless `alpha` is between 0 and 1, exclusive.
    pub fn new(alpha: f64) -> Result<Self, ObjectiveError> {
        if alpha > 0.0 && alpha < 1.0 {
            return Ok(Self { alpha });
        }
        let takes = "an expectile between 0 and 1";
        Err(ObjectiveError::Parameter { objective: "expectile", parameter: alpha.to_string(), takes })
    }

    /// Expectile that is fitted.
    #[must_use]
    pub const fn alpha(self) -> f64 {
        self.alpha
    }
}

/// `alpha` is 0.9, as that of quantiles.
impl Default for Expectile {
    fn default() -> Self {
        Self { alpha: 0.9 }
    }
}

impl Objective for Expectile {
    fn name(&self) -> String {
        format!("expectile:{}", self.alpha)
    }

    fn link(&self) -> Link {
        Link::Identity
    }

    fn shifts(&self) -> bool {
        true
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        check_finite(targets, || self.name())
    }

    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        let alpha = self.alpha;
        vec![best_shift(targets, weights, 1.0, |error| {
            let side = if error > 0.0 { 1.0 - alpha } else { alpha };
            (side * error, side)
        })]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let (above, below) = ((1.0 - self.alpha) as f32, self.alpha as f32);
        let (grads, hess) = out.single();
        for (((grad, hess), &score), &target) in grads.iter_mut().zip(hess).zip(batch.single()).zip(batch.targets) {
            let error = score - target;
            *hess = if error > 0.0 { above } else { below };
            *grad = *hess * error;
        }
        out.apply_weights(batch.weights);
    }
}
