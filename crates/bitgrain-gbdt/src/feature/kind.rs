//! What the values of a feature mean.

/// What the values of a feature mean. NaN is missing in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FeatureKind {
    /// Numbers, which are compared with cuts.
    #[default]
    Numeric,
    /// Codes of categories: whole numbers from 0 to 2^24 - 1, of which only equality means anything.
    Categorical,
}
