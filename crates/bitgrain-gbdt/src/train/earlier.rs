//! Trees of the model that training continues from.

use super::Dataset;
use crate::model::{Comparison, InputKind, Model, Rule, Tree};
use crate::predict::rounding_limit;

/// Converts a threshold for values rounded to f32 to an equivalent one in the model's comparison precision.
pub(super) fn as_compared(threshold: f64, comparison: Comparison) -> f64 {
    match comparison {
        Comparison::F32 => threshold,
        Comparison::F64 => rounding_limit(threshold),
    }
}

/// Returns the trees of the initial model with thresholds in the given precision. Every row keeps its leaf.
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

/// Merges the categories known to the earlier trees. New trees treat the added categories like missing values and send
/// both right, because these categories are not in their sets. Data without category labels takes those of the model.
pub(super) fn merge_known_codes(kind: &mut InputKind, earlier: &InputKind) {
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

/// Returns the class labels of a model: those of its data, else of the initial model, provided that there is one per
/// output, or two for one output. Other numbers of labels belong to objectives that do not predict classes.
pub(super) fn class_labels(data: &Dataset, earlier: Option<&Model>, outputs: usize) -> Vec<String> {
    let fits = |labels: &&[String]| labels.len() == outputs || outputs == 1 && labels.len() == 2;
    let earlier = earlier.map_or(&[][..], |model| &model.output.classes);
    let labels = if data.classes.is_empty() { earlier } else { &data.classes };
    Some(labels).filter(fits).unwrap_or_default().to_vec()
}
