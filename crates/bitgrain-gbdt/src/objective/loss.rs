//! `Objective`: trait of loss functions.

use std::fmt;
use std::sync::Arc;

use bitgrain_kernels::histograms::PairF32;

use super::{Batch, GradientBatch, ObjectiveError};
use crate::Groups;
use crate::metric::{Metric, default_for_link};
use crate::model::Link;
use crate::parameter::Params;

/// Loss function that training minimizes. Built-in objectives are created by name; implement this trait for custom
/// ones.
///
/// If a row has several scores (one per class), scores, gradients and hessians are grouped by output: all rows of the
/// first class, then all rows of the second.
pub trait Objective: Send + Sync {
    /// Name with parameters, as stored in model files: `binary`, `quantile:0.9`.
    fn name(&self) -> String;

    /// Link function from scores to predictions.
    fn link(&self) -> Link;

    /// Number of scores per row: the number of classes for softmax, else 1.
    fn n_outputs(&self) -> usize {
        1
    }

    /// Returns whether every hessian equals the weight of its row (1 without weights), so that hessians need not be
    /// stored.
    fn constant_hessian(&self) -> bool {
        false
    }

    /// Returns whether the loss depends only on the difference of score and target, and the best constant moves with
    /// the targets. If so, [`base_scores`](Self::base_scores) and [`gradients`](Self::gradients) get targets and scores
    /// relative to a constant near all targets, so that a large mean does not cost precision of the residuals.
    fn shifts(&self) -> bool {
        false
    }

    /// Checks that the objective accepts the targets.
    ///
    /// # Errors
    /// Returns the error of the first invalid target.
    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError>;

    /// Checks that the training targets have a best constant. Not called for validation data.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::AllZero`] if the objective fits the logarithm of a mean that is 0.
    fn check_training(&self, _targets: &[f32], _weights: Option<&[f32]>) -> Result<(), ObjectiveError> {
        Ok(())
    }

    /// Returns the best constant score of each output, always finite. Targets have passed [`check`](Self::check);
    /// weights are at least 0.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64>;

    /// Computes the weighted gradients and hessians of a batch. Rows are independent: a batch may be any subset of the
    /// data in any order, unless [`needs_all_rows`](Self::needs_all_rows) returns true.
    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>);

    /// Returns whether a batch must hold all rows of the data in their original order, for losses that compare rows or
    /// use more than the target of a row. Gradients are then computed on one thread.
    fn needs_all_rows(&self) -> bool {
        false
    }

    /// Returns whether the loss compares the rows of a query. The data must have groups then, and a batch holds whole
    /// queries in their original order.
    fn ranks(&self) -> bool {
        false
    }

    /// Takes the parameters, targets and queries of a training before its first round.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::NoGroups`] if the objective ranks and the data has no groups, and the errors of
    /// [`check`](Self::check).
    fn prepare(
        &mut self,
        _params: &Params,
        _targets: &[f32],
        _groups: Option<&Arc<Groups>>,
    ) -> Result<(), ObjectiveError> {
        Ok(())
    }

    /// Updates what the objective learns besides the trees, from the gradients of all rows in a round. Called if it
    /// [ranks](Self::ranks).
    fn end_round(&mut self, _gradients: &[PairF32]) {}

    /// Returns a description of state that the objective learns during training besides the trees, if there is any. A
    /// training with such state cannot be resumed from a checkpoint.
    fn unsaved_state(&self) -> Option<&'static str> {
        None
    }

    /// Returns the weight of a row in [`renew_leaf`](Self::renew_leaf), given its target and weight.
    fn leaf_weight(&self, _target: f32, weight: f32) -> f32 {
        weight
    }

    /// Computes the value of a leaf from the residuals of its rows, as pairs of target minus score and weight, for
    /// losses whose gradient does not determine the step (absolute, quantile). The pairs may be reordered. `None`
    /// selects the usual Newton step.
    fn renew_leaf(&self, _residuals: &mut [(f32, f32)]) -> Option<f64> {
        None
    }

    /// Returns whether [`renew_leaf`](Self::renew_leaf) returns values.
    fn renews_leaves(&self) -> bool {
        false
    }

    /// Returns the default metric. Depends on the link function: rmse, log loss or a deviance.
    fn metric(&self) -> Box<dyn Metric> {
        default_for_link(self.link())
    }
}

impl fmt::Debug for dyn Objective + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Objective({})", self.name())
    }
}
