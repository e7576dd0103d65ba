//! `Forced`: splits at the top of every tree, with features and bins of a dataset.

use super::super::Dataset;
use crate::parameter::ForcedSplit;

/// Forced splits in breadth-first order; the first is that of the root.
#[derive(Debug)]
pub(crate) struct Forced {
    pub(crate) splits: Vec<ForcedBin>,
}

/// Forced split of a node.
#[derive(Debug)]
pub(crate) struct ForcedBin {
    pub(crate) feature: usize,
    /// Last bin that goes left; the bin of the category that goes left if the feature is categorical.
    pub(crate) bin: usize,
    /// Forced splits of the children.
    pub(crate) left: Option<usize>,
    pub(crate) right: Option<usize>,
}

impl Forced {
    /// Finds the features and bins. The error is the reason why a split does not fit the data.
    pub(super) fn new(root: &ForcedSplit, data: &Dataset) -> Result<Self, String> {
        let mut splits = Vec::new();
        let mut waiting = std::collections::VecDeque::from([(root, None)]);
        while let Some((split, parent)) = waiting.pop_front() {
            let feature = split.feature.position(data.schema.names())?;
            let at = splits.len();
            splits.push(ForcedBin { feature, bin: bin_of(data, feature, split.threshold)?, left: None, right: None });
            if let Some((parent, is_left)) = parent {
                let parent: &mut ForcedBin = &mut splits[parent];
                *(if is_left { &mut parent.left } else { &mut parent.right }) = Some(at);
            }
            let children = [(&split.left, true), (&split.right, false)];
            waiting.extend(
                children.into_iter().filter_map(|(child, is_left)| Some((&**child.as_ref()?, Some((at, is_left))))),
            );
        }
        Ok(Self { splits })
    }

    /// Number of leaves of a tree that consists of the forced splits.
    pub(super) fn n_leaves(&self) -> usize {
        self.splits.len() + 1
    }
}

fn bin_of(data: &Dataset, feature: usize, threshold: f64) -> Result<usize, String> {
    let name = &data.schema.names()[feature];
    if data.is_categorical(feature) {
        let categories = data.cuts.categories(feature);
        let known = categories.iter().position(|&category| f64::from(category).total_cmp(&threshold).is_eq());
        return known.ok_or_else(|| format!("`{threshold}` is not a category of feature `{name}`"));
    }
    // Values up to the first cut at or above the threshold go left.
    Ok(data.cuts.all_cuts(feature).partition_point(|&cut| cut < threshold))
}
