//! The softmax loss: learns probabilities of several classes.

use super::constant::{LEAST_SHARE, weight_of};
use super::exponential::{BLOCK, exp_slice};
use super::targets::{MAX_CLASSES, class_of};
use super::{Batch, GradientBatch, Objective, ObjectiveError};
use crate::model::Link;

/// Minus the logarithm of the softmax of the target's class; targets are the whole numbers below the number of classes.
/// Name: `multiclass:5`.
///
/// Hessians are `K / (K - 1)` times the true ones for `K` classes, as in LightGBM: scores of a row move together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multiclass {
    classes: usize,
}

impl Multiclass {
    /// So many classes, from 2 to 65,536.
    ///
    /// # Errors
    /// [`ObjectiveError::Parameter`] if there are fewer or more.
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

    fn n_groups(&self) -> usize {
        self.classes
    }

    fn check(&self, targets: &[f32]) -> Result<(), ObjectiveError> {
        let classes = self.classes;
        match targets.iter().position(|&target| class_of(target, classes).is_none()) {
            Some(row) => Err(ObjectiveError::Label { row, label: targets[row], classes }),
            None => Ok(()),
        }
    }

    /// The logarithm of each class's share; -34.5 for a class without rows.
    fn base_scores(&self, targets: &[f32], weights: Option<&[f32]>) -> Vec<f64> {
        let mut shares = vec![0.0; self.classes];
        for (row, &target) in targets.iter().enumerate() {
            if let Some(class) = class_of(target, self.classes) {
                shares[class] += weight_of(weights, row);
            }
        }
        let total: f64 = shares.iter().sum();
        let score = |share: f64| if total > 0.0 { (share / total).max(LEAST_SHARE).ln() } else { 0.0 };
        shares.into_iter().map(score).collect()
    }

    fn gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>) {
        for (block, targets) in batch.targets.chunks(BLOCK).enumerate() {
            self.block_gradients(batch, out, block * BLOCK, targets);
        }
        out.weigh(batch.weights);
    }
}

impl Multiclass {
    /// The rows from `start` on that have these targets.
    fn block_gradients(&self, batch: &Batch<'_>, out: &mut GradientBatch<'_>, start: usize, targets: &[f32]) {
        let rows = start..start + targets.len();
        let (mut largest, mut shifted, mut total) = ([f32::MIN; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for scores in batch.scores {
            for (largest, &score) in largest.iter_mut().zip(&scores[rows.clone()]) {
                *largest = if score > *largest { score } else { *largest };
            }
        }
        for (scores, grads) in batch.scores.iter().zip(&mut out.grads) {
            let grads = &mut grads[rows.clone()];
            for ((shifted, score), largest) in shifted.iter_mut().zip(&scores[rows.clone()]).zip(&largest) {
                *shifted = score - largest;
            }
            exp_slice(&shifted[..targets.len()], grads);
            for (total, power) in total.iter_mut().zip(grads.iter()) {
                *total += power;
            }
        }
        let inverse = total.map(|total| 1.0 / total);
        #[expect(clippy::cast_precision_loss, reason = "at most 65,536 classes")]
        let factor = self.classes as f32 / (self.classes - 1) as f32;
        for (grads, hess) in out.grads.iter_mut().zip(&mut out.hess) {
            let hess = &mut hess[rows.clone()];
            for ((grad, hess), inverse) in grads[rows.clone()].iter_mut().zip(hess).zip(&inverse) {
                let share = *grad * inverse;
                *grad = share;
                *hess = factor * share * (1.0 - share);
            }
        }
        for (row, &target) in rows.zip(targets) {
            if let Some(grads) = class_of(target, self.classes).and_then(|class| out.grads.get_mut(class)) {
                grads[row] -= 1.0;
            }
        }
    }
}
