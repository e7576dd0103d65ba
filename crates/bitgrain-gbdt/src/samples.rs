//! Targets and weights of rows: the checks that features, objectives, metrics and tables share.

/// Why the targets or weights of rows cannot be used. Row indices are 0-based.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// A target that is NaN.
    #[error("target NaN of row {row} (0-based) is missing; drop such rows")]
    MissingTarget {
        /// Index of the first such row.
        row: usize,
    },
    /// A weight that is negative, infinite or NaN.
    #[error("sample weight {weight} of row {row} (0-based) is invalid; weights must be finite and at least 0")]
    InvalidWeight {
        /// Index of the first such row.
        row: usize,
        /// Weight of that row.
        weight: f32,
    },
    /// A number of weights other than the number of rows.
    #[error("{weights} sample weights for {rows} rows; pass one weight per row")]
    WeightCount {
        /// Number of weights.
        weights: usize,
        /// Number of rows.
        rows: usize,
    },
    /// Weights that are all 0.
    #[error("all sample weights are 0; at least one row needs a weight above 0")]
    NoWeight,
}

/// Returns whether `weight` is finite and at least 0.
pub(crate) fn is_weight(weight: f32) -> bool {
    weight.is_finite() && weight >= 0.0
}

/// Checks that `weights` holds one valid weight per row. All may be 0.
pub(crate) fn check_weights(weights: &[f32], rows: usize) -> Result<(), SampleError> {
    if weights.len() != rows {
        return Err(SampleError::WeightCount { weights: weights.len(), rows });
    }
    match weights.iter().position(|&weight| !is_weight(weight)) {
        Some(row) => Err(SampleError::InvalidWeight { row, weight: weights[row] }),
        None => Ok(()),
    }
}

/// Returns the error for a row whose target was refused: [`SampleError::MissingTarget`] for NaN, else `otherwise`.
pub(crate) fn invalid_target<E: From<SampleError>>(row: usize, target: f64, otherwise: impl FnOnce() -> E) -> E {
    if target.is_nan() { SampleError::MissingTarget { row }.into() } else { otherwise() }
}
