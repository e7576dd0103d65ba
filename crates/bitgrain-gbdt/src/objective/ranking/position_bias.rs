//! Bias of clicks towards rows that were displayed first, learned together with the trees.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::histograms::PairF32;

use crate::Groups;
use crate::parameter::Params;

/// Additive bias of each position, as in LightGBM: rows are ranked by the sum of score and bias during training, so that
/// the trees learn relevance without the effect of the position.
#[derive(Debug, Clone)]
pub(super) struct PositionBias {
    groups: Arc<Groups>,
    biases: Vec<f64>,
    learning_rate: f64,
    regularization: f64,
}

impl PositionBias {
    /// Creates biases of 0; `None` without positions.
    pub(super) fn new(groups: &Arc<Groups>, params: &Params) -> Option<Self> {
        let (distinct, _) = groups.positions()?;
        Some(Self {
            biases: vec![0.0; distinct.len()],
            groups: Arc::clone(groups),
            learning_rate: params.learning_rate,
            regularization: params.lambdarank_position_bias_regularization,
        })
    }

    /// Adds the biases to the scores of some rows.
    #[expect(clippy::cast_possible_truncation, reason = "scores are f32")]
    pub(super) fn add_to(&self, rows: Range<usize>, scores: &mut [f32]) {
        let Some((_, of_row)) = self.groups.positions() else { return };
        for (score, &position) in scores.iter_mut().zip(&of_row[rows]) {
            *score += self.biases[position as usize] as f32;
        }
    }

    /// Takes a Newton step for each bias from the gradients of all rows, summed in row order.
    pub(super) fn update(&mut self, gradients: &[PairF32]) {
        let Some((_, of_row)) = self.groups.positions() else { return };
        let mut sums = vec![(0.0, 0.0, 0.0); self.biases.len()];
        for (pair, &position) in gradients.iter().zip(of_row) {
            let (grad, hess, rows) = &mut sums[position as usize];
            *grad += f64::from(pair.grad);
            *hess += f64::from(pair.hess);
            *rows += self.regularization;
        }
        for (bias, (grad, hess, penalty)) in self.biases.iter_mut().zip(sums) {
            *bias -= self.learning_rate * (grad + *bias * penalty) / (hess + penalty + 0.001);
        }
    }
}
