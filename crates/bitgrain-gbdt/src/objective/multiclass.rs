//! Softmax loss, for probabilities of several classes.

use bitgrain_kernels::Backend;
use bitgrain_kernels::gradients::softmax_gradients;

use super::constant::{LEAST_SHARE, weight_of};
use super::targets::{MAX_CLASSES, class_of};
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::model::Link;
use crate::samples::invalid_target;

/// Negative log-softmax of the target's class. Targets are class indices, integers below the number of classes. Name:
/// `multiclass:5`.
///
/// Hessians are `K / (K - 1)` times the exact ones for `K` classes, as in LightGBM, because the scores of a row move
/// together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiclass {
    classes: usize,
}

impl Multiclass {
    /// Creates the loss for 2 to 65,536 classes.
    ///
    /// # Errors
    /// Returns [`ObjectiveError::Parameter`] for any other number.
    pub fn new(classes: usize) -> Result<Self, ObjectiveError> {
        if (2..=MAX_CLASSES).contains(&classes) {
            return Ok(Self { classes });
        }
        let takes = "a number of classes from 2 to 65536";
        Err(ObjectiveError::Parameter { objective: "multiclass", parameter: classes.to_string(), takes })
    }
}

impl Objective for Multiclass {
    fn name(&self) -> String {
        format!("multiclass:{}", self.classes)
    }

    fn link(&self) -> Link {
        Link::Softmax
    }

    fn n_outputs(&self) -> usize {
        self.classes
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        let classes = self.classes;
        match targets.iter().position(|&target| class_of(target, classes).is_none()) {
            Some(row) => Err(invalid_target(row, targets[row].into(), || ObjectiveError::Label {
                row,
                label: targets[row],
                classes,
            })),
            None => Ok(()),
        }
    }

    /// Returns the logarithm of the share of each class; -34.5 for a class without rows.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        let mut shares = vec![0.0; self.classes];
        for (row, &target) in targets.iter().enumerate() {
            if let Some(class) = class_of(target, self.classes) {
                shares[class] += weight_of(weights, row);
            }
        }
        let total: f64 = shares.iter().sum();
        let score = |share: f64| if total > 0.0 { libm::log((share / total).max(LEAST_SHARE)) } else { 0.0 };
        shares.into_iter().map(score).collect()
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        #[expect(clippy::cast_precision_loss, reason = "at most 65,536 classes")]
        let factor = self.classes as f32 / (self.classes - 1) as f32;
        let (grads, hess) = (&mut out.grads, &mut out.hess);
        let done = softmax_gradients(Backend::best(), batch.scores, batch.targets, factor, grads, hess);
        debug_assert!(done.is_ok(), "a batch has one score, gradient and hessian per target and class");
        out.apply_weights(batch.weights);
    }
}
