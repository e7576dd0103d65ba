//! `Boosting`: combination of the trees of a model.

use super::{Params, TrainError};
use crate::model::Model;
use crate::objective::Objective;

/// Combination of the trees of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Boosting {
    /// Gradient boosting: each tree corrects the sum of the earlier ones.
    #[default]
    Gbdt,
    /// Gradient boosting with dropout: each tree corrects the sum of the earlier ones without a random part of them,
    /// and takes over a part of their weight (Rashmi and Gilad-Bachrach, 2015).
    Dart,
    /// Random forest: each tree is fitted alone, to its own sample of rows or features, and scores are averages.
    Rf,
}

impl Params {
    /// Returns whether targets, weights and scores can move with their rows. With several outputs, the scores of each
    /// would have to move with the trees of all the others; GOSS and some objectives need the rows in order; the scores
    /// of a random forest do not change.
    pub(super) fn moves_rows(&self, objective: &dyn Objective) -> bool {
        let in_order = objective.needs_all_rows() || objective.ranks() || self.boosting == Boosting::Rf;
        objective.n_outputs() == 1 && self.goss().is_none() && !in_order
    }

    /// Checks that the trees of a model and new ones can be combined alike.
    pub(super) fn check_continues(&self, model: &Model) -> Result<(), TrainError> {
        let refused = |reason: &str| Err(TrainError::Continue { reason: reason.to_owned() });
        match (self.boosting == Boosting::Rf, model.output.average) {
            (false, true) => refused("its scores are averages over trees, but training adds trees up"),
            (true, false) => refused("its scores are sums over trees, but a random forest averages them"),
            (true, true) if model.output.base_scores.iter().any(|&score| score != 0.0) => {
                refused("its base scores are not 0, but those of a random forest are part of the leaves")
            }
            _ => Ok(()),
        }
    }
}

/// Scores of a random forest during training. The scores that gradients are computed from stay those of the best
/// constants, which are part of every leaf, as in LightGBM.
#[derive(Debug)]
pub(super) struct Forest {
    /// The best constant of each output.
    pub(super) bias: Vec<f64>,
    /// Sums over the trees of each training row, grouped by output; empty unless metrics need them.
    pub(super) sums: Vec<f64>,
}

impl Forest {
    /// Converts sums over the trees of some rounds to scores, with the same operations as prediction.
    #[expect(clippy::cast_precision_loss, reason = "the number of rounds is far below 2^53")]
    pub(super) fn average(rounds: usize, mut sums: Vec<f64>) -> Vec<f64> {
        let rounds = rounds.max(1) as f64;
        sums.iter_mut().for_each(|sum| *sum = 0.0 + *sum / rounds);
        sums
    }
}
