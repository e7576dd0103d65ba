//! What can be wrong with a model or with the rows given to it.

/// Why there are no predictions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PredictError {
    /// Rows of more or fewer features than the model's.
    #[error("the model takes {expected} features, a row has {found}")]
    FeatureCount {
        /// Features of the model.
        expected: usize,
        /// Features of the rows.
        found: usize,
    },
    /// An output slice of another length than a row's predictions.
    #[error("a row has {expected} predictions, the slice for them holds {found}")]
    OutputLength {
        /// Predictions per row.
        expected: usize,
        /// Length of the slice.
        found: usize,
    },
    /// A model without a base score: it predicts nothing.
    #[error("the model has no base score, so it has no output")]
    NoOutput,
    /// A tree that is not one.
    #[error("tree {tree}: {problem}")]
    Tree {
        /// The first such tree.
        tree: usize,
        /// What is wrong with it.
        problem: TreeProblem,
    },
}

/// What can be wrong with a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeProblem {
    /// Leaves are one more than splits.
    #[error("{splits} splits have {leaves} leaves, there should be one more than splits")]
    LeafCount {
        /// Splits there are.
        splits: usize,
        /// Leaves there are.
        leaves: usize,
    },
    /// A feature that the model does not have.
    #[error("split {split} asks for feature {feature}, the model has {features}")]
    Feature {
        /// The split.
        split: usize,
        /// The feature it asks for.
        feature: u32,
        /// Features there are.
        features: usize,
    },
    /// A child that is not there, not behind its parent, or another split's too.
    #[error("split {split} has a child that is not there, not behind it, or another split's too")]
    Child {
        /// The split.
        split: usize,
    },
    /// A threshold that nothing can be compared with.
    #[error("the threshold of split {split} is not a number")]
    Threshold {
        /// The split.
        split: usize,
    },
}
