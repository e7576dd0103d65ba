//! What can be wrong with data and settings of a training.

use crate::feature::FeatureError;
use crate::metric::MetricError;
use crate::objective::ObjectiveError;
use crate::parameter::ParameterError;

/// Why nothing was trained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The features cannot be used.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// The targets cannot be learned.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The predictions cannot be measured.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Not one target per row.
    #[error("{targets} targets for {rows} rows")]
    TargetCount {
        /// Targets there are.
        targets: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A parameter cannot be used.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A number of folds that the rows cannot be dealt to.
    #[error("invalid folds: `{folds}`; use an integer from 2 to the number of rows, {rows}")]
    Folds {
        /// The number that was given.
        folds: usize,
        /// Rows there are.
        rows: usize,
    },
    /// An objective gave a gradient or a hessian that is not finite, or a negative hessian.
    #[error(
        "the objective gave row {row} a gradient of {grad} and a hessian of {hess} in round {round}: both must be finite, \
         and hessians from 0 on"
    )]
    Gradient {
        /// The first such row.
        row: usize,
        /// Its gradient.
        grad: f32,
        /// Its hessian.
        hess: f32,
        /// The round.
        round: usize,
    },
    /// Early stopping without anything to watch.
    #[error("early stopping needs validation data and a metric")]
    NothingToWatch,
    /// A model to go on from that does not fit.
    #[error("training cannot go on from the model: {reason}")]
    Continue {
        /// What does not fit.
        reason: String,
    },
    /// Validation data that was binned in another way.
    #[error("the validation data does not have the cuts of the training data; make it by Dataset::like")]
    OtherCuts,
    /// More rows than a row's number has bits for.
    #[error("{rows} rows are more than {} can be counted", u32::MAX)]
    TooManyRows {
        /// Rows there are.
        rows: usize,
    },
}
