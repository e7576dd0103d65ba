//! Trees of a model that training goes on from.

use super::Dataset;
use crate::model::{Comparison, InputKind, Model, Rule, Tree};
use crate::predict::rounding_limit;

/// A threshold that values rounded to f32 are compared with, as one for values as they are if the model compares these.
pub(super) fn as_compared(threshold: f64, comparison: Comparison) -> f64 {
    match comparison {
        Comparison::F32 => threshold,
        Comparison::F64 => rounding_limit(threshold),
    }
}

/// The trees of a model to go on from, for the comparison of all trees: rows go where they went.
pub(super) fn earlier_trees(model: &Model, comparison: Comparison) -> Vec<Tree> {
    let mut trees = model.trees.clone();
    if model.comparison != comparison {
        for split in trees.iter_mut().flat_map(|tree| &mut tree.splits) {
            if let Rule::AtMost(threshold) = &mut split.rule {
                *threshold = as_compared(*threshold, comparison);
            }
        }
    }
    trees
}

/// Adds the categories that earlier trees know. New trees send what they do not know where a missing value goes, as
/// they do with what is in none of their sets: to the right. Data without category labels takes those of the model.
pub(super) fn know_more(kind: &mut InputKind, earlier: &InputKind) {
    let InputKind::Categorical { known, labels } = kind else { return };
    let InputKind::Categorical { known: earlier, labels: earlier_labels } = earlier else { return };
    *known = known.take().zip(earlier.as_ref()).map(|(mut codes, earlier)| {
        codes.extend(earlier);
        codes.sort_unstable();
        codes.dedup();
        codes
    });
    if labels.is_empty() {
        labels.clone_from(earlier_labels);
    }
}

/// The class labels of a model: those of its data, or else of the model that training goes on from, if there is one for
/// each output, or two for one output. Labels of another count belong to a loss that does not predict classes.
pub(super) fn class_labels(data: &Dataset, earlier: Option<&Model>, outputs: usize) -> Vec<String> {
    let fits = |labels: &&[String]| labels.len() == outputs || outputs == 1 && labels.len() == 2;
    let earlier = earlier.map_or(&[][..], |model| &model.output.classes);
    let labels = if data.classes.is_empty() { earlier } else { &data.classes };
    Some(labels).filter(fits).unwrap_or_default().to_vec()
}
