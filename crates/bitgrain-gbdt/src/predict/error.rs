//! Errors of prediction.

/// Reason why prediction failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// Rows with another number of features than the model.
    #[error("the model expects {expected} features, but rows have {found}")]
    FeatureCount {
        /// Number of features of the model.
        expected: usize,
        /// Number of features of the rows.
        found: usize,
    },
    /// An output slice with another length than the number of predictions per row.
    #[error("the output slice has length {found}; expected {expected}, the number of predictions per row")]
    OutputLength {
        /// Number of predictions per row.
        expected: usize,
        /// Length of the slice.
        found: usize,
    },
    /// A model without base scores, and thus without outputs.
    #[error("the model has no base score; it needs one per output")]
    NoOutput,
    /// An invalid tree.
    #[error("tree {tree}: {problem}")]
    Tree {
        /// Index of the first such tree.
        tree: usize,
        /// Description of the problem.
        problem: TreeProblem,
    },
}

/// Problem of a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeProblem {
    /// A tree that does not have one more leaf than splits.
    #[error("{leaves} leaves and {splits} splits; expected one more leaf than splits")]
    LeafCount {
        /// Number of splits.
        splits: usize,
        /// Number of leaves.
        leaves: usize,
    },
    /// A feature that is out of range.
    #[error("split {split} uses feature {feature}, but the model has {features} features")]
    Feature {
        /// Index of the split.
        split: usize,
        /// Feature index of the split.
        feature: u32,
        /// Number of features.
        features: usize,
    },
    /// A child that does not exist, precedes its parent, or has two parents.
    #[error("a child of split {split} does not exist, precedes it, or has another parent")]
    Child {
        /// Index of the split.
        split: usize,
    },
    /// A threshold that is NaN.
    #[error("the threshold of split {split} is NaN")]
    Threshold {
        /// Index of the split.
        split: usize,
    },
}
