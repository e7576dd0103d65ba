//! `Objective`: a loss to minimise.

use std::fmt;

use super::{Batch, GradientBatch, ObjectiveError};
use crate::metric::{Metric, default_for_link};
use crate::model::Link;

/// A loss to minimise. Built-in ones are made by name; implement this for one of your own.
///
/// Scores, gradients and hessians of a row with several scores (one for each class) lie output after output: all rows of
/// the first class, then all rows of the second.
pub trait Objective: Send + Sync {
    /// Name with parameters, as the model's file keeps it: `binary`, `quantile:0.9`.
    fn name(&self) -> String;

    /// From scores to predictions.
    fn link(&self) -> Link;

    /// Scores per row: the number of classes for softmax, else 1.
    fn n_outputs(&self) -> usize {
        1
    }

    /// Whether every hessian is the weight of its row (1 without weights): then they need no bits.
    fn constant_hessian(&self) -> bool {
        false
    }

    /// Whether only the difference of score and target matters, and the best constant moves with the targets. Then
    /// [`base_scores`](Self::base_scores) and [`gradients`](Self::gradients) are given targets and scores relative to a
    /// constant near all targets, so that a large mean costs no digits of the residuals.
    fn shifts(&self) -> bool {
        false
    }

    /// Whether the targets can be learned.
    ///
    /// # Errors
    /// The first that cannot, and why.
    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError>;

    /// Whether the targets of a training together have a best constant; not asked for validation data.
    ///
    /// # Errors
    /// [`ObjectiveError::AllZero`] of objectives that learn the logarithm of a mean.
    fn check_training(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Result<(), ObjectiveError> {
        Ok(())
    }

    /// The constant scores that fit best, one for each output; always finite. For targets that passed
    /// [`check`](Self::check) and weights from 0 on.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64>;

    /// Gradients and hessians of the rows of a batch, weights multiplied in. Rows are independent of each other: a
    /// batch may be any part of the data, in any order, unless [`whole`](Self::whole) says otherwise.
    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>);

    /// Whether batches have to be all rows of the data in its order: for losses that compare rows, or know more of a row
    /// than its target. One thread makes their gradients.
    fn whole(&self) -> bool {
        false
    }

    /// The value of a leaf from what is left to explain in its rows, pairs of target minus score and weight, for losses
    /// whose gradient does not tell how far to go (absolute, quantile). The pairs may be put in another order. `None`:
    /// the usual step by gradient and hessian.
    fn renew_leaf(&self, _residuals: &mut [(f32, f32)]) -> Option<f64> {
        None
    }

    /// Whether [`renew_leaf`](Self::renew_leaf) gives values.
    fn renews_leaves(&self) -> bool {
        false
    }

    /// What to watch while this is minimised. By default what suits the link: rmse, log loss or a deviance.
    fn metric(&self) -> Box<dyn Metric> {
        default_for_link(self.link())
    }
}

impl fmt::Debug for dyn Objective + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objective({})", self.name())
    }
}
