//! `Growth`: order in which nodes are split.

/// Order in which nodes are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// Leaf with the largest gain first.
    #[default]
    LeafWise,
    /// All nodes of a level before the next level.
    DepthWise,
    /// All nodes of a level with the same split.
    Symmetric,
}
