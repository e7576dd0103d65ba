//! Nodes and leaves of all trees as flat lists.

use super::super::categorical::CategoricalSplit;
use super::super::threshold::wide;
use crate::model::{Child, Comparison, InputKind, Missing, Model, Rule};

/// Kinds of nodes: comparisons by their missing values, and category sets.
const MISSING_NAN: u8 = 0;
const MISSING_NAN_OR_ZERO: u8 = 1;
const MISSING_NOTHING: u8 = 2;
const CATEGORIES: u8 = 3;

/// A split of a tree.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) threshold: f64,
    pub(super) feature: u32,
    /// A node, or `-1 - i` for leaf `i`.
    pub(super) children: [i64; 2],
    /// First of the listed codes, and their number.
    pub(super) codes: (usize, usize),
    pub(super) kind: u8,
    pub(super) missing_left: bool,
    pub(super) listed_left: bool,
}

/// Lists that both languages write. No list is empty, because C has no empty arrays.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) rows: Vec<Row>,
    pub(super) leaves: Vec<f64>,
    /// Root of each tree, a node or a leaf.
    pub(super) roots: Vec<i64>,
    pub(super) codes: Vec<u32>,
    /// Reading of categories by each feature: 0 not at all, 1 only known codes, 2 the integer part, 3 the integer part of an
    /// f32 of at least 0.
    pub(super) features: Vec<u8>,
    /// Largest magnitude that counts as zero.
    pub(super) zero: f64,
}

impl Tables {
    pub(super) fn new(model: &Model) -> Self {
        let feature = |kind: &InputKind| match (kind, model.comparison) {
            (InputKind::Numeric, _) => 0,
            (InputKind::Categorical { known: Some(_), .. }, _) => 1,
            (InputKind::Categorical { known: None, .. }, Comparison::F64) => 2,
            (InputKind::Categorical { known: None, .. }, Comparison::F32) => 3,
        };
        let mut tables = Self {
            features: model.inputs.iter().map(|input| feature(&input.kind)).collect(),
            zero: wide(Missing::ZERO, model.comparison),
            ..Self::default()
        };
        for tree in &model.trees {
            let (nodes, leaves) = (index(tables.rows.len()), index(tables.leaves.len()));
            let place = |child| match child {
                Child::Split(at) => nodes + i64::from(at),
                Child::Leaf(at) => !(leaves + i64::from(at)),
            };
            tables.roots.push(place(if tree.splits.is_empty() { Child::Leaf(0) } else { Child::Split(0) }));
            for split in &tree.splits {
                let set = CategoricalSplit::new(model, split);
                let (threshold, kind) = match (&split.rule, split.missing) {
                    (Rule::In(_) | Rule::NotIn(_), _) => (0.0, CATEGORIES),
                    (Rule::AtMost(threshold), Missing::Nan) => (*threshold, MISSING_NAN),
                    (Rule::AtMost(threshold), Missing::NanOrZero) => (*threshold, MISSING_NAN_OR_ZERO),
                    (Rule::AtMost(threshold), Missing::Nothing) => (*threshold, MISSING_NOTHING),
                };
                let listed = set.as_ref().map_or(&[][..], |set| &set.listed);
                tables.rows.push(Row {
                    threshold: wide(threshold, model.comparison),
                    feature: split.feature,
                    children: [split.left, split.right].map(place),
                    codes: (tables.codes.len(), listed.len()),
                    kind,
                    missing_left: set.as_ref().map_or(split.missing_left, |set| set.missing_left),
                    listed_left: set.as_ref().is_some_and(|set| set.listed_left),
                });
                tables.codes.extend(listed);
            }
            tables.leaves.extend(tree.leaves.iter().map(|leaf| leaf.value));
        }
        tables
    }
}

fn index(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}
