//! Errors of explanations.

use crate::feature::FeatureError;
use crate::predict::PredictError;

/// Reason why predictions cannot be explained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// An invalid model, or rows that do not match it.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// A tree without the number of training rows per node.
    #[error(
        "tree {tree} does not record how many training rows reach its nodes; pass a background table to explain the \
         model without these counts"
    )]
    NoCover {
        /// Index of the first such tree.
        tree: usize,
    },
    /// A tree whose paths would fill the memory.
    #[error("tree {tree} is too deep to explain: its leaves lie below {steps} splits in total; at most {limit}")]
    Depth {
        /// Index of the first such tree.
        tree: usize,
        /// Sum of the depths of its leaves.
        steps: u64,
        /// Maximum sum.
        limit: u64,
    },
    /// A feature that the model does not have.
    #[error("feature {feature} does not exist: the model has {features} features (0-based)")]
    Feature {
        /// Index of the feature.
        feature: usize,
        /// Number of features of the model.
        features: usize,
    },
    /// A result that does not fit into memory.
    #[error(
        "the result has {values} values per row for {rows} rows, which does not fit into memory; explain fewer rows"
    )]
    Memory {
        /// Number of rows.
        rows: usize,
        /// Number of values per row.
        values: usize,
    },
    /// Invalid features.
    #[error(transparent)]
    Invalid(#[from] FeatureError),
}
