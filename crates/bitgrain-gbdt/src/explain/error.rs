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
    /// A name that is not a feature of the model.
    #[error("unknown feature `{name}`; the model has {}", shortened(known))]
    UnknownFeature {
        /// The name.
        name: String,
        /// Names of the model's features.
        known: Vec<String>,
    },
    /// Another number of features than partial dependence takes.
    #[error("partial dependence takes one feature or two different ones")]
    FeatureCount,
    /// A grid without values, or with too many.
    #[error("a grid of {size} values per feature is not supported; it must have 1 to {most}")]
    GridSize {
        /// Number of values.
        size: usize,
        /// Maximum number.
        most: usize,
    },
    /// Invalid percentiles of a grid.
    #[error("invalid percentiles {from} and {to}; they must be ascending numbers from 0 to 1")]
    Percentiles {
        /// First percentile.
        from: f64,
        /// Second percentile.
        to: f64,
    },
    /// A feature whose values are all missing.
    #[error("column `{name}` has only missing values; pass the values of its grid")]
    NoValues {
        /// Name of the feature.
        name: String,
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

/// Lists the first names.
fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let list = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{list} and {} more", names.len() - SHOWN) } else { list }
}
