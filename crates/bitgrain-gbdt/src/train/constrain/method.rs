//! `MonotoneMethod`: bounds that keep trees monotone.

/// Bounds that keep trees monotone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MonotoneMethod {
    /// A split on a monotone feature bounds both subtrees by the mean of the two children's values.
    #[default]
    Basic,
    /// Leaves are bounded by the values of those leaves only that a monotone feature can lead to. Leaves are split one
    /// at a time, and others are searched again when their bounds change.
    Intermediate,
    /// As intermediate, and each child of a possible split is bounded by those leaves only that are in order with the
    /// child, so that more splits are allowed and their gains are larger.
    Advanced,
}
