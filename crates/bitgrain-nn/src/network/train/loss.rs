//! `LossFunction`: how wrong what comes out is.

use super::TrainingTargets;
use crate::network::layer::shares;
use crate::network::{InputBatch, NetworkError};

/// How wrong what comes out is, as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossFunction {
    /// The mean of squared differences to the targets.
    MeanSquare,
    /// The mean of `-log` of the share that the softmax of the outputs gives to the right class. Outputs are the numbers
    /// before the softmax.
    CrossEntropy,
}

impl LossFunction {
    /// The loss, and its gradients with respect to what came out.
    ///
    /// # Errors
    /// [`NetworkError::Targets`] if the targets are of another kind, or not as many, or a class is none.
    pub fn measure(self, y: &InputBatch, targets: &TrainingTargets) -> Result<(f64, Vec<f32>), NetworkError> {
        match (self, targets) {
            (Self::MeanSquare, TrainingTargets::Values(values)) => mean_square(y, values),
            (Self::CrossEntropy, TrainingTargets::Classes(classes)) => cross_entropy(y, classes),
            (Self::MeanSquare, TrainingTargets::Classes(classes)) => {
                Err(NetworkError::Targets { what: "numbers for the mean square", wanted: classes.len(), found: 0 })
            }
            (Self::CrossEntropy, TrainingTargets::Values(values)) => {
                Err(NetworkError::Targets { what: "classes for the cross entropy", wanted: values.len(), found: 0 })
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "means")]
fn mean_square(y: &InputBatch, values: &[f32]) -> Result<(f64, Vec<f32>), NetworkError> {
    let (wanted, found) = (y.values().len(), values.len());
    if wanted != found {
        return Err(NetworkError::Targets { what: "numbers that come out", wanted, found });
    }
    let off: Vec<f32> = y.values().iter().zip(values).map(|(y, value)| y - value).collect();
    let loss = off.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / wanted as f64;
    Ok((loss, off.into_iter().map(|x| 2.0 * x / wanted as f32).collect()))
}

#[expect(clippy::cast_precision_loss, reason = "means")]
fn cross_entropy(y: &InputBatch, classes: &[usize]) -> Result<(f64, Vec<f32>), NetworkError> {
    let (len, wanted, found) = (y.last(), y.rows(), classes.len());
    if wanted != found {
        return Err(NetworkError::Targets { what: "vectors that come out", wanted, found });
    }
    if let Some(&found) = classes.iter().find(|class| **class >= len) {
        return Err(NetworkError::Targets { what: "a class below the number of outputs", wanted: len, found });
    }
    let mut slopes = y.values().to_vec();
    let mut loss = 0.0;
    for (row, &class) in slopes.chunks_exact_mut(len).zip(classes) {
        let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let sum: f64 = row.iter().map(|x| (f64::from(*x) - largest).exp()).sum();
        loss += sum.ln() + largest - f64::from(row[class]);
        shares(row);
        row[class] -= 1.0;
        row.iter_mut().for_each(|x| *x /= found as f32);
    }
    Ok((loss / found as f64, slopes))
}
