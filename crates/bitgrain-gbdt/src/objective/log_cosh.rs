//! Logarithm of the hyperbolic cosine of the error.

use super::minimum::best_shift;
use super::targets::check_finite;
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::metric::{Mae, Metric};
use crate::model::Link;

/// `ln(cosh(error))`: half the squared error near 0, the absolute error far from it. Name: `log_cosh`.
///
/// Hessians are `tanh(error) / error`, above the exact ones, which vanish for large errors: a step from far away would
/// overshoot, and no split would have enough weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogCosh;

impl Objective for LogCosh {
    fn name(&self) -> String {
        "log_cosh".into()
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
        vec![best_shift(targets, weights, 1.0, |error| {
            let slope = libm::tanh(error);
            (slope, if error == 0.0 { 1.0 } else { slope / error })
        })]
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        let (grads, hess) = out.single();
        for (((grad, hess), &score), &target) in grads.iter_mut().zip(hess).zip(batch.single()).zip(batch.targets) {
            let error = score - target;
            *grad = libm::tanhf(error);
            *hess = if error == 0.0 { 1.0 } else { *grad / error };
        }
        out.apply_weights(batch.weights);
    }

    fn metric(&self) -> Box<dyn Metric> {
        Box::new(Mae)
    }
}
