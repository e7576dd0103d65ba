//! Kinds of features.

/// Kind of a feature. NaN is a missing value in both kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FeatureKind {
    /// Numbers, compared with cuts.
    #[default]
    Numeric,
    /// Category codes: integers from 0 to 2^24 - 1 without an order.
    Categorical,
}
