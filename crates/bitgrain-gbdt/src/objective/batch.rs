//! Rows whose gradients are asked for, and where these go.

/// Rows whose gradients are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The target of each row; relative to a constant if the objective [shifts](super::Objective::shifts).
    pub targets: &'a [f32],
    /// The weight of each row.
    pub weights: Option<&'a [f32]>,
    /// For each output, the score of each row, relative to the same constant.
    pub scores: &'a [&'a [f32]],
}

impl<'a> Batch<'a> {
    /// The scores, for objectives with one per row.
    #[must_use]
    pub fn single(&self) -> &'a [f32] {
        self.scores.first().copied().unwrap_or_default()
    }
}

/// Where gradients go.
#[derive(Debug)]
pub struct GradientBatch<'a> {
    /// For each output, the gradient of each row.
    pub grads: Vec<&'a mut [f32]>,
    /// For each output, the hessian of each row.
    pub hess: Vec<&'a mut [f32]>,
}

impl GradientBatch<'_> {
    /// Gradients and hessians, for objectives with one score per row.
    pub fn single(&mut self) -> (&mut [f32], &mut [f32]) {
        match (self.grads.first_mut(), self.hess.first_mut()) {
            (Some(grads), Some(hess)) => (grads, hess),
            _ => (&mut [], &mut []),
        }
    }

    /// Multiplies weights into gradients and hessians.
    pub fn weigh(&mut self, weights: Option<&[f32]>) {
        let Some(weights) = weights else { return };
        for values in self.grads.iter_mut().chain(&mut self.hess) {
            for (value, weight) in values.iter_mut().zip(weights) {
                *value *= weight;
            }
        }
    }

    /// Gradients of losses with hessians of 1, from score and target.
    pub(super) fn fill_constant(&mut self, batch: &Batch<'_>, gradient: impl Fn(f32, f32) -> f32) {
        let (grads, hess) = self.single();
        for ((grad, &score), &target) in grads.iter_mut().zip(batch.single()).zip(batch.targets) {
            *grad = gradient(score, target);
        }
        hess.fill(1.0);
        self.weigh(batch.weights);
    }
}
