//! Input and output of gradient computations.

use std::ops::Range;

use crate::Groups;

/// Rows whose gradients are computed.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// Target of each row; relative to a constant if the objective [shifts](super::Objective::shifts).
    pub targets: &'a [f32],
    /// Weight of each row; 1 by default.
    pub weights: Option<&'a [f32]>,
    /// Scores of each row, per output, relative to the same constant.
    pub scores: &'a [&'a [f32]],
    /// Queries of the rows, if the objective [ranks](super::Objective::ranks).
    pub queries: Option<QueryBatch<'a>>,
}

/// Whole queries whose rows are a batch.
#[derive(Debug, Clone, Copy)]
pub struct QueryBatch<'a> {
    /// Queries of all rows of the data.
    pub groups: &'a Groups,
    /// Index of the first query of the batch.
    pub first: usize,
    /// Number of queries of the batch.
    pub len: usize,
    /// Index of the round, 0-based.
    pub round: usize,
}

impl<'a> QueryBatch<'a> {
    /// Iterates over the index of each query and its rows, relative to the first row of the batch.
    pub fn iter(self) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let groups = self.groups;
        let start = if self.len > 0 { groups.range(self.first).start } else { 0 };
        (self.first..self.first + self.len).map(move |group| {
            let rows = groups.range(group);
            (group, rows.start - start..rows.end - start)
        })
    }
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
