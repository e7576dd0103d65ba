//! Errors of training.

use crate::feature::FeatureError;
use crate::metric::MetricError;
use crate::objective::ObjectiveError;
use crate::parameter::ParameterError;

/// Reason why training failed. Row indices are 0-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// Invalid features.
    #[error(transparent)]
    Feature(#[from] FeatureError),
    /// An invalid objective or invalid targets.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A metric that cannot be evaluated.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A number of targets other than the number of rows.
    #[error("{targets} targets for {rows} rows; pass one target per row")]
    TargetCount {
        /// Number of targets.
        targets: usize,
        /// Number of rows.
        rows: usize,
    },
    /// An invalid parameter.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A number of folds that is out of range.
    #[error("invalid folds: `{folds}`; use an integer from 2 to the number of rows, {rows}")]
    Folds {
        /// The requested number.
        folds: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A gradient or hessian of the objective that is not finite, or a negative hessian.
    #[error(
        "the objective returned gradient {grad} and hessian {hess} for row {row} (0-based) in round {round}; \
         both must be finite and hessians at least 0"
    )]
    Gradient {
        /// Index of the first such row.
        row: usize,
        /// Gradient of that row.
        grad: f32,
        /// Hessian of that row.
        hess: f32,
        /// Index of the round, 0-based.
        round: usize,
    },
    /// Early stopping without validation data or without a metric.
    #[error("early stopping needs validation data and a metric")]
    NothingToWatch,
    /// An initial model that does not match the training.
    #[error("cannot continue training from the model: {reason}")]
    Continue {
        /// Description of the mismatch.
        reason: String,
    },
    /// Validation data that was binned with other cuts.
    #[error("the cuts of the validation data differ from those of the training data; create it with Dataset::like")]
    OtherCuts,
    /// More rows than 32-bit indices can number.
    #[error("{rows} rows exceed the maximum of {}", u32::MAX)]
    TooManyRows {
        /// Number of rows.
        rows: usize,
    },
}
