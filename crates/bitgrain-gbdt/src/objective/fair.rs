//! Fair loss, for means that are robust to outliers.

use super::minimum::best_shift;
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{Mae, Metric};
use crate::model::Link;

/// `c^2 (|error| / c - ln(1 + |error| / c))`: quadratic for errors far below `c`, linear far above. Name: `fair:1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fair {
    c: f64,
}

impl Fair {
    /// Creates a Fair loss that bends at errors of about `c`.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] unless `c` is a number above 0 that f32 can represent.
    pub fn new(c: f64) -> Result<Self, ObjectiveError> {
        if c >= f64::from(f32::MIN_POSITIVE) && c <= f64::from(f32::MAX) {
            return Ok(Self { c });
        }
        Err(ObjectiveError::Parameter { objective: "fair", parameter: c.to_string(), takes: "a number above 0" })
    }

    /// Error at which the loss bends.
    #[must_use]
    pub const fn c(self) -> f64 {
        self.c
    }
}

/// `c` is 1, as in LightGBM.
impl Default for Fair {
    fn default() -> Self {
        Self { c: 1.0 }
    }
}

impl Objective for Fair {
    fn name(&self) -> String {
        format!("fair:{}", self.c)
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
        let c = self.c;
        vec![best_shift(targets, weights, c, |error| {
            let bent = c / (error.abs() + c);
            (error * bent, bent * bent)
        })]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        #[expect(clippy::cast_possible_truncation, reason = "gradients are f32")]
        let c = self.c as f32;
        let (grads, hess) = out.single();
        for (((grad, hess), &score), &target) in grads.iter_mut().zip(hess).zip(batch.single()).zip(batch.targets) {
            let error = score - target;
            let bent = c / (error.abs() + c);
            *grad = error * bent;
            *hess = bent * bent;
        }
        out.apply_weights(batch.weights);
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Mae)
    }
}
