//! The order in which nodes are split.

/// The order in which nodes are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// The leaf with the largest gain first.
    #[default]
    LeafWise,
    /// All nodes of a level before those of the next.
    DepthWise,
    /// All nodes of a level by the same split.
    Symmetric,
}
