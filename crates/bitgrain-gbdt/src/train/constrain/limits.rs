//! `Limits`: state of a node that constraints need.

/// State of a node that constraints need; the same for all nodes without constraints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    /// Bounds of the values of all leaves below, from monotone constraints.
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Value of the node as a leaf, before the learning rate.
    pub(crate) value: f64,
    /// Value of the parent, toward which path smoothing moves `value`; `None` at the root, which is not smoothed.
    pub(crate) parent: Option<f64>,
    pub(crate) depth: u32,
    /// Hash of the path from the root: the source of random cuts.
    pub(crate) draw: u64,
    /// Index of the set of groups that contain all features of the path; see `Groups`.
    pub(crate) groups: usize,
    /// Leaf whose neighbors bound the children of each split, if their bounds differ from those of the node.
    pub(crate) neighbors: Option<u32>,
}

impl Limits {
    /// Limits of an unconstrained node.
    pub(crate) const FREE: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        value: 0.0,
        parent: None,
        depth: 0,
        draw: 0,
        groups: 0,
        neighbors: None,
    };
}
