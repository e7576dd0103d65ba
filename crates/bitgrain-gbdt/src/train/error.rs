//! Errors of training.

use crate::distributed::CommunicationError;
use crate::feature::FeatureError;
use crate::groups::GroupError;
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
    /// Invalid queries.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A number of folds that is out of range for the queries.
    #[error("invalid folds: `{folds}`; use an integer from 2 to the number of queries, {groups}")]
    GroupFolds {
        /// The requested number.
        folds: usize,
        /// Number of queries.
        groups: usize,
    },
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
    /// A parameter that does not match the features of the data.
    #[error("invalid {name}: {reason}")]
    FeatureParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Description of the mismatch.
        reason: String,
    },
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
    /// A limit on memory below what training needs with the bins in a file.
    #[error(
        "training needs at least {needed} bytes of memory, but the limit is {limit} bytes: {per_row} bytes per row for \
         {rows} rows, and histograms; raise the limit, or reduce num_leaves, max_bin or the precision of gradients"
    )]
    Memory {
        /// Bytes needed.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
        /// Bytes per row other than bins.
        per_row: u64,
        /// Number of rows.
        rows: u64,
    },
    /// Workers that cannot train together, or one of which failed.
    #[error(transparent)]
    Communication(#[from] CommunicationError),
    /// A setting that does not give the same model on any number of workers.
    #[error("{setting} is not supported in distributed training: {reason}")]
    NotDistributed {
        /// The setting.
        setting: String,
        /// Explanation and remedy.
        reason: &'static str,
    },
    /// Early stopping without validation data or without a metric.
    #[error("early stopping needs validation data and a metric")]
    NothingToWatch,
    /// Initial scores that do not match the data.
    #[error("invalid initial scores: {reason}")]
    InitScores {
        /// Description of the mismatch.
        reason: String,
    },
    /// A metric or validation set of early stopping that does not exist.
    #[error("early stopping cannot use {what} {index} (0-based): there are only {count}")]
    StopOn {
        /// `metric` or `validation set`.
        what: &'static str,
        /// The requested index.
        index: usize,
        /// Number of metrics or validation sets.
        count: usize,
    },
    /// A parameter that cannot change between rounds.
    #[error("`{name}` cannot change during training; start a new training that continues from the model")]
    FixedParameter {
        /// Name of the parameter.
        name: &'static str,
    },
    /// A checkpoint of another training, or a file that is not a checkpoint.
    #[error("cannot resume training: {reason}")]
    Checkpoint {
        /// Description of the mismatch.
        reason: String,
    },
    /// An initial model that does not match the training.
    #[error("cannot continue training from the model: {reason}")]
    Continue {
        /// Description of the mismatch.
        reason: String,
    },
    /// A model whose leaves cannot be refitted.
    #[error("cannot refit the model: {reason}")]
    Refit {
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
