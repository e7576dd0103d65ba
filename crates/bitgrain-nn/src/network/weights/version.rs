//! `Version`: a quantized copy of the weights, and products with its codes.

use std::sync::{Arc, OnceLock};

use bitgrain_codec::weight::{QuantizedTensor, WeightFormat};

use super::WeightsError;
use crate::network::product::PackedMatrix;

/// An immutable quantized copy of the weights.
#[derive(Debug)]
pub struct Version {
    format: WeightFormat,
    tensor: Arc<QuantizedTensor>,
    /// The codes packed for products, created on first use.
    matrix: OnceLock<PackedMatrix>,
}

impl Version {
    /// Creates a version that was requested as `format` and is stored as `tensor`.
    ///
    /// # Errors
    /// Returns [`WeightsError::Overflow`] if a code decodes to infinity, [`WeightsError::Codec`] if codes are invalid.
    pub fn new(format: WeightFormat, tensor: QuantizedTensor) -> Result<Self, WeightsError> {
        let version = Self { format, tensor: Arc::new(tensor), matrix: OnceLock::new() };
        let (rows, cols) = version.tensor.shape();
        let mut row = vec![0.0; cols];
        for at in 0..rows {
            version.row_into(at, &mut row)?;
            if let Some(index) = row.iter().position(|weight| !weight.is_finite()) {
                return Err(WeightsError::Overflow { format: format.to_string(), index: at * cols + index });
            }
        }
        Ok(version)
    }

    /// Returns the requested format.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Returns the stored tensor: in the requested format, or in a fallback if the row length is not a multiple of its block length.
    #[must_use]
    pub fn tensor(&self) -> &QuantizedTensor {
        &self.tensor
    }

    /// Returns the size in memory in bytes: the codes, and their packed copy if it exists.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tensor.bytes() + self.matrix.get().map_or(0, PackedMatrix::own_bytes)
    }

    /// Decodes one row.
    ///
    /// # Errors
    /// Returns [`WeightsError::Codec`] if the row does not exist or codes are invalid.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        Ok(self.tensor.columns_into(row, 0, out)?)
    }

    /// Computes `out = x · weightsᵀ` on the codes.
    ///
    /// # Errors
    /// Returns [`WeightsError::NonFinite`] for an activation that is not finite, [`WeightsError::Length`] if `x` or
    /// `out` has another length.
    pub fn multiply(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let batch = x.len() / self.tensor.shape().1.max(1);
        self.matrix()?.multiply(x, batch, out)
    }

    /// Bounds the absolute difference of each output of [`multiply`](Self::multiply) from the exact product with the
    /// decoded weights.
    ///
    /// # Errors
    /// Same as [`multiply`](Self::multiply).
    pub fn bound(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let batch = x.len() / self.tensor.shape().1.max(1);
        self.matrix()?.bound(x, batch, out)
    }

    fn matrix(&self) -> Result<&PackedMatrix, WeightsError> {
        if let Some(matrix) = self.matrix.get() {
            return Ok(matrix);
        }
        // Two threads may both pack the codes; the results are equal, and `get_or_init` keeps one.
        let matrix = PackedMatrix::new(Arc::clone(&self.tensor))?;
        Ok(self.matrix.get_or_init(|| matrix))
    }
}
