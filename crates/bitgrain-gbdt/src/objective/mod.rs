//! What is minimised: gradients and hessians of a loss.

use crate::model::Link;

/// A loss to minimise. Built-in ones are made by name; implement this for one of your own.
///
/// Scores, gradients and hessians of a row with several scores (one for each class) lie group after group: all rows of
/// the first class, then all rows of the second.
pub trait Objective: Send + Sync {
    /// Name with parameters, as the model's file keeps it: `binary`, `quantile:0.9`.
    fn name(&self) -> String;

    /// From scores to predictions.
    fn link(&self) -> Link;

    /// Scores per row: the number of classes for softmax, else 1.
    fn n_groups(&self) -> usize {
        1
    }

    /// Whether every hessian is the weight of its row (1 without weights): then they need no bits.
    fn constant_hessian(&self) -> bool {
        false
    }

    /// Whether the targets can be learned.
    ///
    /// # Errors
    /// The first that cannot, and why.
    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError>;

    /// The constant scores that fit best, one for each group.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64>;

    /// Gradients and hessians of the rows of a batch, weights multiplied in. Rows are independent of each other: a
    /// batch may be any part of the data.
    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>);

    /// The value of a leaf from what is left to explain in its rows (target minus score), for losses whose gradient
    /// does not tell how far to go (absolute, quantile). `None`: the usual step by gradient and hessian.
    fn renew_leaf(&self, _residuals: &mut [(f32, f32)]) -> Option<f64> {
        None
    }

    /// Whether [`renew_leaf`](Self::renew_leaf) gives values.
    fn renews_leaves(&self) -> bool {
        false
    }
}

/// Rows whose gradients are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    /// The target of each row.
    pub targets: &'a [f32],
    /// The weight of each row.
    pub weights: Option<&'a [f32]>,
    /// For each group, the score of each row.
    pub scores: &'a [&'a [f32]],
}

/// Where gradients go.
#[derive(Debug)]
pub struct GradientBatch<'a> {
    /// For each group, the gradient of each row.
    pub grads: Vec<&'a mut [f32]>,
    /// For each group, the hessian of each row.
    pub hess: Vec<&'a mut [f32]>,
}

/// Why targets cannot be learned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A name that is none of ours.
    #[error("there is no objective {name}; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A target outside what the objective takes.
    #[error("target {target} of row {row}: {objective} takes {takes}")]
    Target {
        /// The first such row.
        row: usize,
        /// Its target.
        target: f32,
        /// The objective.
        objective: String,
        /// What it takes.
        takes: &'static str,
    },
}
