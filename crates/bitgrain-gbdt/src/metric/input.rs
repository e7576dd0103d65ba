//! Predictions beside the truth.

use super::MetricError;
use crate::SampleError;
use crate::samples::{check_weights, is_weight};

/// Predictions beside the truth.
#[derive(Debug, Clone, Copy)]
pub struct MetricInput<'a> {
    /// The target of each row.
    pub targets: &'a [f64],
    /// The weight of each row.
    pub weights: Option<&'a [f32]>,
    /// Predictions (after the link), output after output: all rows of the first class, then all of the second.
    pub predictions: &'a [f64],
}

impl MetricInput<'_> {
    /// Whether there are rows, so many predictions for each, and one weight for each if any.
    ///
    /// # Errors
    /// [`MetricError::Empty`], [`MetricError::PredictionCount`] or [`MetricError::Sample`].
    pub fn check(&self, outputs: usize) -> Result<(), MetricError> {
        let rows = self.targets.len();
        if rows == 0 {
            return Err(MetricError::Empty);
        }
        if rows.checked_mul(outputs) != Some(self.predictions.len()) {
            return Err(MetricError::PredictionCount { predictions: self.predictions.len(), rows, outputs });
        }
        match self.weights {
            Some(weights) if weights.len() != rows => {
                Err(SampleError::WeightCount { weights: weights.len(), rows }.into())
            }
            _ => Ok(()),
        }
    }

    /// The weight of a row; NaN if it is none.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| {
            let weight = weights[row];
            if is_weight(weight) { f64::from(weight) } else { f64::NAN }
        })
    }

    /// Refuses a sum of weights that is 0 or, because of a bad one, NaN.
    pub(super) fn check_total(&self, total: f64) -> Result<(), MetricError> {
        if total > 0.0 {
            return Ok(());
        }
        if let Some(weights) = self.weights {
            check_weights(weights, self.targets.len())?;
        }
        Err(SampleError::NoWeight.into())
    }
}
