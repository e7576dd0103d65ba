//! Prediction of a single row on raw values, without preparation and without allocation.

use std::hint::select_unpredictable;

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
    nodes: Vec<Node>,
    leaves: Vec<f64>,
    /// Root of each tree (a complement if it is a leaf), and offset of its leaves.
    starts: Vec<(i32, u32)>,
    /// Splits that need more than a comparison with a threshold.
    special: Vec<Split>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// Largest value that goes left.
    limit: f64,
    feature: u32,
    way: u32,
    /// Left and right child: index of a node, or complement of a leaf within its tree.
    children: [i32; 2],
}

impl RowTrees {
    pub(super) fn new(model: &Model) -> Self {
        let mut trees = Self { nodes: vec![], leaves: vec![], starts: vec![], special: vec![] };
        model.trees.iter().for_each(|tree| trees.push(tree, model));
        trees
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "checked to be below 2^31")]
    fn push(&mut self, tree: &Tree, model: &Model) {
        let start = self.nodes.len() as i32;
        self.starts.push((if tree.splits.is_empty() { !0 } else { start }, self.leaves.len() as u32));
        self.leaves.extend(tree.leaves.iter().map(|leaf| leaf.value));
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
            let child = |index: i32| if index < 0 { index } else { start + index };
            let children = [split.left, split.right].map(|node| child(child_index(node)));
            self.nodes.push(Node { limit: limit.unwrap_or(f64::NAN), feature: split.feature, way, children });
        }
    }

    /// Calls `found` with each of the first `n_trees` trees in order, its leaf and the leaf's value. `row` has one
    /// value per feature.
    pub(super) fn walk(&self, columns: &Columns, row: &[f64], n_trees: usize, mut found: impl FnMut(usize, u32, f64)) {
        for (first, starts) in (0..).step_by(LANES).zip(self.starts[..n_trees].chunks(LANES)) {
            let mut at = [!0; LANES];
            at.iter_mut().zip(starts).for_each(|(at, start)| *at = start.0);
            // Finished lanes evaluate an arbitrary node and keep their leaf: a branch per lane would be mispredicted.
            while at.iter().any(|&at| at >= 0) {
                for at in &mut at {
                    let next = self.next(columns, row, &self.nodes[usize::try_from(*at).unwrap_or(0)]);
                    *at = select_unpredictable(*at >= 0, next, *at);
                }
            }
            for (lane, (at, start)) in at.iter().zip(starts).enumerate() {
                let leaf = (!at).cast_unsigned();
                found(first + lane, leaf, self.leaves[(start.1 + leaf) as usize]);
            }
        }
    }

    #[inline]
    fn next(&self, columns: &Columns, row: &[f64], node: &Node) -> i32 {
        let value = row[node.feature as usize];
        let left = match node.way {
            way @ (NAN_RIGHT | NAN_LEFT) => (value <= node.limit) | (value.is_nan() & (way == NAN_LEFT)),
            way => self.special(columns, value, node.feature, way),
        };
        node.children[usize::from(!left)]
    }

    #[cold]
    fn special(&self, columns: &Columns, value: f64, feature: u32, way: u32) -> bool {
        goes_left(&self.special[(way - SPECIAL) as usize], columns.comparable(feature as usize, value))
    }
}
