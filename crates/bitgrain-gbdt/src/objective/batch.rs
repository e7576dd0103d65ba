//! Input and output of gradient computations.

/// Rows whose gradients are computed.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Target of each row; relative to a constant if the objective [shifts](super::Objective::shifts).
    pub targets: &'a [f32],
    /// Weight of each row; 1 by default.
    pub weights: Option<&'a [f32]>,
    /// Scores of each row, per output, relative to the same constant.
    pub scores: &'a [&'a [f32]],
}

impl<'a> Batch<'a> {
    /// Returns the scores of an objective with one output.
    #[must_use]
    pub fn single(&self) -> &'a [f32] {
        self.scores.first().copied().unwrap_or_default()
    }
}

/// Output buffers of gradients.
#[derive(Debug)]
pub struct GradientBatch<'a> {
    /// Gradient of each row, per output.
    pub grads: Vec<&'a mut [f32]>,
    /// Hessian of each row, per output.
    pub hess: Vec<&'a mut [f32]>,
}

impl GradientBatch<'_> {
    /// Returns the gradients and hessians of an objective with one output.
    pub fn single(&mut self) -> (&mut [f32], &mut [f32]) {
        match (self.grads.first_mut(), self.hess.first_mut()) {
            (Some(grads), Some(hess)) => (grads, hess),
            _ => (&mut [], &mut []),
        }
    }

    /// Multiplies gradients and hessians by the row weights.
    pub fn apply_weights(&mut self, weights: Option<&[f32]>) {
        let Some(weights) = weights else { return };
        for values in self.grads.iter_mut().chain(&mut self.hess) {
            for (value, weight) in values.iter_mut().zip(weights) {
                *value *= weight;
            }
        }
    }

    /// Fills gradients from score and target, for losses whose hessian is 1.
    pub(super) fn fill_constant(&mut self, batch: &Batch<'_>, gradient: impl Fn(f32, f32) -> f32) {
        let (grads, hess) = self.single();
        for ((grad, &score), &target) in grads.iter_mut().zip(batch.single()).zip(batch.targets) {
            *grad = gradient(score, target);
        }
        hess.fill(1.0);
        self.apply_weights(batch.weights);
    }
}
