//! `MetricInput`: predictions with their targets and weights.

use super::MetricError;
use crate::samples::{check_weights, is_weight};
use crate::{Groups, SampleError};

/// Predictions with their targets and weights.
#[derive(Debug, Clone, Copy)]
pub struct MetricInput<'a> {
    /// Target of each row.
    pub targets: &'a [f64],
    /// Weight of each row; 1 by default.
    pub weights: Option<&'a [f32]>,
    /// Predictions (after the link function), grouped by output: all rows of the first class, then all rows of the
    /// second.
    pub predictions: &'a [f64],
    /// Queries of the rows, for metrics that rank.
    pub groups: Option<&'a Groups>,
}

impl MetricInput<'_> {
    /// Checks that there are rows, `outputs` predictions per row, and one weight per row if there are weights.
    ///
    /// # Errors
    /// Returns [`MetricError::Empty`], [`MetricError::PredictionCount`] or [`MetricError::Sample`].
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

    /// Returns the weight of a row, or NaN if it is invalid.
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| {
            let weight = weights[row];
            if is_weight(weight) { f64::from(weight) } else { f64::NAN }
        })
    }

    /// Checks that the sum of weights is positive; an invalid weight makes it NaN.
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
