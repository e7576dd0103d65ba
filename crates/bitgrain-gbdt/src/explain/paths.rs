//! Paths from the root of a tree to its leaves, with the conditions of each feature merged.

use crate::model::{Child, Tree};

/// Path to a leaf.
#[derive(Debug, Clone)]
pub(super) struct Path {
    /// Distinct features of the path, in order of first use.
    pub(super) features: Vec<Condition>,
    /// Fraction of the training rows of the parent nodes that meet the conditions, per feature.
    pub(super) cover: Vec<f64>,
    /// Value of the leaf.
    pub(super) value: f64,
}

/// Conditions of a path on one feature.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    /// Index of the feature.
    pub(super) feature: usize,
    /// Splits of the path on this feature, and whether the path goes left there.
    pub(super) steps: Vec<(usize, bool)>,
}

/// Returns the sum of the depths of all leaves, which is the number of steps of all paths.
pub(super) fn n_steps(tree: &Tree) -> u64 {
    let (mut depths, mut steps) = (vec![0_u64; tree.splits.len()], 0);
    for (at, split) in tree.splits.iter().enumerate() {
        for child in [split.left, split.right] {
            match child {
                Child::Split(child) => depths[child as usize] = depths[at] + 1,
                Child::Leaf(_) => steps += depths[at] + 1,
            }
        }
    }
    steps
}

/// Returns the paths to all leaves, and whether the tree records how many training rows reach its nodes.
///
/// The tree must be valid: parents come before their children.
pub(super) fn paths(tree: &Tree) -> (Vec<Path>, bool) {
    let covers = Covers::new(tree);
    let mut all = Vec::with_capacity(tree.leaves.len());
    let empty = Path { features: Vec::new(), cover: Vec::new(), value: 0.0 };
    let root = if tree.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) };
    let mut waiting = vec![(root, empty)];
    // A stack instead of recursion: an imported tree may be as deep as it has leaves.
    while let Some((node, path)) = waiting.pop() {
        match node {
            Child::Leaf(leaf) => all.push(Path { value: tree.leaves[leaf as usize].value, ..path }),
            Child::Split(index) => {
                let split = &tree.splits[index as usize];
                for (child, is_left) in [(split.right, false), (split.left, true)] {
                    let mut path = path.clone();
                    path.extend(split.feature as usize, (index as usize, is_left), covers.share(node, child));
                    waiting.push((child, path));
                }
            }
        }
    }
    (all, covers.known)
}

impl Path {
    fn extend(&mut self, feature: usize, step: (usize, bool), share: f64) {
        match self.features.iter().position(|condition| condition.feature == feature) {
            Some(at) => {
                self.features[at].steps.push(step);
                self.cover[at] *= share;
            }
            None => {
                self.features.push(Condition { feature, steps: vec![step] });
                self.cover.push(share);
            }
        }
    }
}

/// Training rows that reach each node: counts, or sums of hessians if there are no counts, as in XGBoost's models.
struct Covers<'a> {
    tree: &'a Tree,
    by_count: bool,
    known: bool,
}

impl<'a> Covers<'a> {
    fn new(tree: &'a Tree) -> Self {
        let by_count = tree.leaves.iter().any(|leaf| leaf.count > 0);
        let mut covers = Self { tree, by_count, known: true };
        covers.known = tree.splits.is_empty() || covers.of(Child::Split(0)) > 0.0;
        covers
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn of(&self, node: Child) -> f64 {
        let (count, weight) = match node {
            Child::Split(index) => (self.tree.splits[index as usize].count, self.tree.splits[index as usize].weight),
            Child::Leaf(index) => (self.tree.leaves[index as usize].count, self.tree.leaves[index as usize].weight),
        };
        if self.by_count { count as f64 } else { weight }
    }

    /// Fraction of the rows of `node` that continue to `child`; half if no rows reach the node.
    fn share(&self, node: Child, child: Child) -> f64 {
        let (all, part) = (self.of(node), self.of(child));
        if all > 0.0 { part / all } else { 0.5 }
    }
}
