//! Prediction of a single row on raw values, without preparation and without allocation.

use super::code_tree::child_index;
use super::columns::Columns;
use super::question::{goes_left, rounding_limit};
use crate::model::{Comparison, InputKind, Missing, Model, Rule, Split, Tree};

/// Trees walked at once, to overlap their memory latencies.
const LANES: usize = 8;

/// Kinds of nodes: plain splits with the direction of NaN; larger numbers are indices of special splits.
const NAN_RIGHT: u32 = 0;
const NAN_LEFT: u32 = 1;
const SPECIAL: u32 = 2;

/// All trees of a model in one array.
#[derive(Debug, Clone)]
pub(super) struct RowTrees {
    /// Splits of each tree, followed by its leaves.
    nodes: Vec<Node>,
    trees: Vec<Start>,
    /// Splits that need more than a comparison with a threshold.
    special: Vec<Split>,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    root: u32,
    first_leaf: u32,
    /// Number of splits on the longest path.
    depth: u32,
}

/// Split or leaf. A leaf leads back to itself, so that all lanes take the same number of steps, without a branch.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// Largest value that goes left; the value of a leaf.
    limit: f64,
    feature: u32,
    way: u32,
    /// Left and right child.
    children: [u32; 2],
}

impl RowTrees {
    pub(super) fn new(model: &Model) -> Self {
        let mut trees = Self { nodes: vec![], trees: vec![], special: vec![] };
        model.trees.iter().for_each(|tree| trees.push(tree, model));
        trees
    }

    #[expect(clippy::cast_possible_truncation, reason = "trees were checked to have fewer than 2^31 leaves")]
    fn push(&mut self, tree: &Tree, model: &Model) {
        let root = self.nodes.len() as u32;
        let first_leaf = root + tree.splits.len() as u32;
        // Parents come before their children.
        let mut depths = vec![1; tree.splits.len()];
        for (at, split) in tree.splits.iter().enumerate() {
            for child in [split.left, split.right] {
                if let Ok(child) = usize::try_from(child_index(child)) {
                    depths[child] = depths[at] + 1;
                }
            }
        }
        self.trees.push(Start { root, first_leaf, depth: depths.into_iter().max().unwrap_or(0) });
        for split in &tree.splits {
            let limit = match (&split.rule, model.comparison) {
                (Rule::AtMost(threshold), Comparison::F32) => Some(rounding_limit(*threshold)),
                (Rule::AtMost(threshold), Comparison::F64) => Some(*threshold),
                (Rule::In(_) | Rule::NotIn(_), _) => None,
            };
            let numeric = matches!(
                model.inputs[split.feature as usize].kind,
                InputKind::Numeric | InputKind::Categorical { known: None, .. }
            );
            let plain = numeric && limit.is_some() && split.missing != Missing::NanOrZero;
            let way = match plain {
                true if goes_left(split, f64::NAN) => NAN_LEFT,
                true => NAN_RIGHT,
                false => {
                    self.special.push(split.clone());
                    SPECIAL + (self.special.len() - 1) as u32
                }
            };
            let children = [split.left, split.right].map(|node| match child_index(node) {
                split @ 0.. => root + split.cast_unsigned(),
                leaf => first_leaf + (!leaf).cast_unsigned(),
            });
            self.nodes.push(Node { limit: limit.unwrap_or(f64::NAN), feature: split.feature, way, children });
        }
        for (leaf, at) in tree.leaves.iter().zip(first_leaf..) {
            self.nodes.push(Node { limit: leaf.value, feature: 0, way: NAN_RIGHT, children: [at; 2] });
        }
    }

    /// Calls `found` with each of the first `n_trees` trees in order, its leaf and the leaf's value. `row` has one
    /// value per feature.
    pub(super) fn walk(&self, columns: &Columns, row: &[f64], n_trees: usize, found: impl FnMut(usize, u32, f64)) {
        if self.special.is_empty() && !row.iter().any(|value| value.is_nan()) {
            self.walk_by(row, n_trees, |value, node| value <= node.limit, found);
        } else {
            self.walk_by(row, n_trees, |value, node| self.goes_left(columns, value, node), found);
        }
    }

    #[inline]
    fn walk_by(
        &self,
        row: &[f64],
        n_trees: usize,
        goes_left: impl Fn(f64, &Node) -> bool,
        mut found: impl FnMut(usize, u32, f64),
    ) {
        for (first, trees) in (0..).step_by(LANES).zip(self.trees[..n_trees].chunks(LANES)) {
            let mut at = [trees[0].root; LANES];
            at.iter_mut().zip(trees).for_each(|(at, tree)| *at = tree.root);
            for _ in 0..trees.iter().map(|tree| tree.depth).max().unwrap_or(0) {
                for at in &mut at {
                    let node = &self.nodes[*at as usize];
                    *at = node.children[usize::from(!goes_left(row[node.feature as usize], node))];
                }
            }
            for (lane, (&at, tree)) in at.iter().zip(trees).enumerate() {
                found(first + lane, at - tree.first_leaf, self.nodes[at as usize].limit);
            }
        }
    }

    #[inline]
    fn goes_left(&self, columns: &Columns, value: f64, node: &Node) -> bool {
        match node.way {
            way @ (NAN_RIGHT | NAN_LEFT) => (value <= node.limit) | (value.is_nan() & (way == NAN_LEFT)),
            way => self.special(columns, value, node.feature, way),
        }
    }

    #[cold]
    fn special(&self, columns: &Columns, value: f64, feature: u32, way: u32) -> bool {
        goes_left(&self.special[(way - SPECIAL) as usize], columns.comparable(feature as usize, value))
    }
}
