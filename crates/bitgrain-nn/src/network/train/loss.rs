//! `LossFunction`: loss functions and their gradients.

use super::TrainingTargets;
use crate::network::layer::softmax;
use crate::network::{InputBatch, NetworkError};

/// Loss function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossFunction {
    /// Mean squared error.
    MeanSquare,
    /// Mean cross-entropy of the softmax of the outputs with the class labels. Outputs are logits: they must not have
    /// passed through a softmax.
    CrossEntropy,
}

impl LossFunction {
    /// Returns the loss and its gradients with respect to the outputs.
    ///
    /// # Errors
    /// Returns [`NetworkError::Targets`] if the targets are of the wrong kind or number, or a class label is out of
    /// range.
    pub fn measure(self, y: &InputBatch, targets: &TrainingTargets) -> Result<(f64, Vec<f32>), NetworkError> {
        match (self, targets) {
            (Self::MeanSquare, TrainingTargets::Values(values)) => mean_square(y, values),
            (Self::CrossEntropy, TrainingTargets::Classes(classes)) => cross_entropy(y, classes),
            (Self::MeanSquare, TrainingTargets::Classes(classes)) => Err(NetworkError::Targets {
                what: "number of float targets for the mean square must be",
                wanted: classes.len(),
                found: 0,
            }),
            (Self::CrossEntropy, TrainingTargets::Values(values)) => Err(NetworkError::Targets {
                what: "number of class labels for the cross entropy must be",
                wanted: values.len(),
                found: 0,
            }),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "means")]
fn mean_square(y: &InputBatch, values: &[f32]) -> Result<(f64, Vec<f32>), NetworkError> {
    let (wanted, found) = (y.values().len(), values.len());
    if wanted != found {
        return Err(NetworkError::Targets { what: "number of target values must be", wanted, found });
    }
    let off: Vec<f32> = y.values().iter().zip(values).map(|(y, value)| y - value).collect();
    let loss = off.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / wanted as f64;
    Ok((loss, off.into_iter().map(|x| 2.0 * x / wanted as f32).collect()))
}

#[expect(clippy::cast_precision_loss, reason = "means")]
fn cross_entropy(y: &InputBatch, classes: &[usize]) -> Result<(f64, Vec<f32>), NetworkError> {
    let (len, wanted, found) = (y.last(), y.rows(), classes.len());
    if wanted != found {
        return Err(NetworkError::Targets { what: "number of class labels must be", wanted, found });
    }
    if let Some(&found) = classes.iter().find(|class| **class >= len) {
        return Err(NetworkError::Targets { what: "class labels must be less than", wanted: len, found });
    }
    let mut slopes = y.values().to_vec();
    let mut loss = 0.0;
    for (row, &class) in slopes.chunks_exact_mut(len).zip(classes) {
        // Subtracting the largest logit keeps the exponentials from overflowing.
        let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let sum: f64 = row.iter().map(|x| (f64::from(*x) - largest).exp()).sum();
        loss += sum.ln() + largest - f64::from(row[class]);
        // The gradient with respect to the logits is the softmax minus the one-hot label.
        softmax(row);
        row[class] -= 1.0;
        row.iter_mut().for_each(|x| *x /= found as f32);
    }
    Ok((loss / found as f64, slopes))
}
