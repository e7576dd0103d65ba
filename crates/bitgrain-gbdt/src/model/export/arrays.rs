//! `TreeArrays`: a tree as one list per property of its nodes, as scikit-learn and shap store trees.

use super::ExportError;
use super::threshold::{nan_left, wide};
use crate::model::{Child, Model, Rule, Tree};

/// Nodes of a tree: the splits in their order, then the leaves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeArrays {
    /// Left child of each node; -1 for leaves.
    pub left: Vec<i32>,
    /// Right child of each node; -1 for leaves.
    pub right: Vec<i32>,
    /// Child of missing values; -1 for leaves.
    pub missing: Vec<i32>,
    /// Feature of each node; -1 for leaves.
    pub features: Vec<i32>,
    /// Largest f64 value that goes left; 0 for leaves.
    pub thresholds: Vec<f64>,
    /// Value of each node, divided by the number of rounds if the model averages.
    pub values: Vec<f64>,
    /// Number of training rows of each node, or its sum of hessians if the model has no counts.
    pub weights: Vec<f64>,
}

impl Model {
    /// Returns the nodes of each tree. Base scores are not included.
    ///
    /// # Errors
    /// Returns [`ExportError::Model`] if [`check`](Self::check) fails, [`ExportError::Unsupported`] if a split is
    /// categorical or treats 0 as a missing value.
    pub fn tree_arrays(&self) -> Result<Vec<TreeArrays>, ExportError> {
        self.check()?;
        let convert = |(index, tree)| {
            self.arrays_of(tree).map_err(|(split, what)| ExportError::Unsupported {
                format: "tree-arrays",
                what: format!("split {split} of tree {index}, which {what}"),
                instead: "lightgbm-json or json",
            })
        };
        self.trees.iter().enumerate().map(convert).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn arrays_of(&self, tree: &Tree) -> Result<TreeArrays, (usize, &'static str)> {
        let divisor = if self.output.average { self.n_rounds().max(1) as f64 } else { 1.0 };
        // Explanations count rows in the same way.
        let by_count = tree.leaves.iter().any(|leaf| leaf.count > 0);
        let weight = |count: u64, weight: f64| if by_count { count as f64 } else { weight };
        let mut out = TreeArrays::default();
        for (at, split) in tree.splits.iter().enumerate() {
            let Rule::AtMost(threshold) = split.rule else { return Err((at, "is categorical")) };
            let place = |child| {
                let node = match child {
                    Child::Split(index) => index as usize,
                    Child::Leaf(index) => tree.splits.len() + index as usize,
                };
                i32::try_from(node).map_err(|_| (at, "is beyond 2^31 nodes"))
            };
            let (left, right) = (place(split.left)?, place(split.right)?);
            let is_left = nan_left(split, threshold).map_err(|what| (at, what))?;
            out.left.push(left);
            out.right.push(right);
            out.missing.push(if is_left { left } else { right });
            out.features.push(i32::try_from(split.feature).map_err(|_| (at, "has a feature beyond 2^31"))?);
            out.thresholds.push(wide(threshold, self.comparison));
            out.values.push(split.value / divisor);
            out.weights.push(weight(split.count, split.weight));
        }
        for leaf in &tree.leaves {
            for list in [&mut out.left, &mut out.right, &mut out.missing, &mut out.features] {
                list.push(-1);
            }
            out.thresholds.push(0.0);
            out.values.push(leaf.value / divisor);
            out.weights.push(weight(leaf.count, leaf.weight));
        }
        Ok(out)
    }
}
