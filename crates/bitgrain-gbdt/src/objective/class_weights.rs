//! Row weights by class.

use super::ObjectiveError;
use super::targets::{MAX_CLASSES, class_of};
use crate::samples::{invalid_target, is_weight};

/// Weights of the classes.
#[derive(Debug, Clone, PartialEq)]
pub enum ClassWeights {
    /// Equal total weight of all classes: each row weighs `rows / (classes * rows of the class)`.
    Balanced,
    /// Weight of each class, by class index.
    PerClass(Vec<f32>),
}

impl ClassWeights {
    /// Weights class 1 `weight` times as much as class 0, like `scale_pos_weight` of LightGBM and XGBoost.
    #[must_use]
    pub fn scale_pos(weight: f32) -> Self {
        Self::PerClass(vec![1.0, weight])
    }
}

/// Returns the class weight of each row, a factor of the row's own weight.
///
/// ```
/// use bitgrain_gbdt::objective::{ClassWeights, class_weights};
/// let targets = [0.0, 0.0, 0.0, 1.0];
/// assert_eq!(class_weights(&targets, &ClassWeights::scale_pos(5.0))?, [1.0, 1.0, 1.0, 5.0]);
/// let balanced = class_weights(&targets, &ClassWeights::Balanced)?;
/// assert_eq!(balanced, [2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0]); // both classes have the same total
/// # Ok::<(), bitgrain_gbdt::objective::ObjectiveError>(())
/// ```
///
/// # Errors
/// Returns [`ObjectiveError::Label`] for a target that is not a class index or has no weight, and
/// [`ObjectiveError::ClassWeight`] for a weight that is negative or not finite.
pub fn class_weights(targets: &[f32], weights: &ClassWeights) -> Result<Vec<f32>, ObjectiveError> {
    match weights {
        ClassWeights::PerClass(weights) => given(targets, weights),
        ClassWeights::Balanced => given(targets, &balanced(targets)?),
    }
}

fn given(targets: &[f32], weights: &[f32]) -> Result<Vec<f32>, ObjectiveError> {
    if let Some(class) = weights.iter().position(|&weight| !is_weight(weight)) {
        return Err(ObjectiveError::ClassWeight { class, weight: weights[class] });
    }
    let classes = weights.len();
    let weight_of = |(row, &label): (usize, &f32)| match class_of(label, classes) {
        Some(class) => Ok(weights[class]),
        None => Err(invalid_target(row, label.into(), || ObjectiveError::Label { row, label, classes })),
    };
    targets.iter().enumerate().map(weight_of).collect()
}

fn balanced(targets: &[f32]) -> Result<Vec<f32>, ObjectiveError> {
    let mut counts = Vec::new();
    for (row, &label) in targets.iter().enumerate() {
        let class = class_of(label, MAX_CLASSES);
        let class = class.ok_or_else(|| {
            invalid_target(row, label.into(), || ObjectiveError::Label { row, label, classes: MAX_CLASSES })
        })?;
        if class >= counts.len() {
            counts.resize(class + 1, 0_usize);
        }
        counts[class] += 1;
    }
    let present = counts.iter().filter(|&&count| count > 0).count();
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    let weight = |count: usize| targets.len() as f64 / (present * count.max(1)) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    Ok(counts.into_iter().map(|count| weight(count) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_weights_give_every_class_the_same_sum() {
        let targets = [4.0, 0.0, 4.0, 2.0, 4.0, 0.0];
        let weights = class_weights(&targets, &ClassWeights::Balanced).expect("classes");
        for class in [0.0, 2.0, 4.0] {
            let sum: f32 = targets.iter().zip(&weights).filter(|(t, _)| **t == class).map(|(_, w)| w).sum();
            assert!((sum - 2.0).abs() < 1e-6, "{class}: {sum}");
        }
    }

    #[test]
    fn labels_without_a_weight_are_named() {
        let error = class_weights(&[0.0, 1.0, 2.0], &ClassWeights::scale_pos(3.0)).expect_err("two weights");
        assert_eq!(error, ObjectiveError::Label { row: 2, label: 2.0, classes: 2 });
        for label in [-1.0, 0.5, f32::NAN, f32::INFINITY, 1e9] {
            assert!(class_weights(&[0.0, label], &ClassWeights::Balanced).is_err(), "{label}");
        }
    }

    #[test]
    fn invalid_weights_are_rejected() {
        for weight in [-1.0, f32::NAN, f32::INFINITY] {
            let error = class_weights(&[0.0], &ClassWeights::scale_pos(weight)).expect_err("not a weight");
            assert!(matches!(error, ObjectiveError::ClassWeight { class: 1, .. }), "{error}");
        }
        assert_eq!(class_weights(&[], &ClassWeights::Balanced), Ok(vec![]));
    }
}
