//! Trees for formats without base scores.

use crate::model::{Leaf, Model, Tree};

/// Returns the trees with the base scores added to the leaves of the first round, as LightGBM does. A model without trees
/// gets a round of single leaves.
///
/// Programs that add up leaf values in f64, in the order of the trees and from 0, then get the same bits as
/// [`Model::raw_scores_of`], which adds the leaf of the first tree to the base score: both round the same sum.
pub(super) fn trees(model: &Model) -> Vec<Tree> {
    let base = &model.output.base_scores;
    let mut trees = model.trees.clone();
    if trees.is_empty() {
        let leaf = Leaf { value: 0.0, weight: 0.0, count: 0 };
        trees = vec![Tree { splits: Vec::new(), leaves: vec![leaf] }; base.len()];
    }
    for (tree, base) in trees.iter_mut().zip(base) {
        tree.leaves.iter_mut().for_each(|leaf| leaf.value += base);
        tree.splits.iter_mut().for_each(|split| split.value += base);
    }
    trees
}
