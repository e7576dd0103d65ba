//! `Version`: a quantized copy of the weights, and products with its codes.

use std::sync::{Arc, OnceLock};

use bitgrain_codec::weight::{QuantizedTensor, WeightFormat};

use super::WeightsError;
use crate::network::product::PackedMatrix;

/// A quantized copy of the weights. It never changes.
#[derive(Debug)]
pub struct Version {
    format: WeightFormat,
    tensor: Arc<QuantizedTensor>,
    /// The codes in the order of products, made for the first one.
    matrix: OnceLock<PackedMatrix>,
}

impl Version {
    /// A version that was asked for as `format` and is stored as `tensor`.
    ///
    /// # Errors
    /// [`WeightsError::Overflow`] if codes stand for infinities, [`WeightsError::Codec`] if they cannot be read.
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

    /// What was asked for.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// What it is stored as: the format that was asked for unless the rows are not whole blocks of it.
    #[must_use]
    pub fn tensor(&self) -> &QuantizedTensor {
        &self.tensor
    }

    /// Bytes it takes in memory: its codes, and those that were put into the order of products.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tensor.bytes() + self.matrix.get().map_or(0, PackedMatrix::own_bytes)
    }

    /// The weights of one row.
    ///
    /// # Errors
    /// What decoding brings.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        Ok(self.tensor.columns_into(row, 0, out)?)
    }

    /// `out = x · weightsᵀ` on the codes, for rows `x` as long as those of the matrix.
    ///
    /// # Errors
    /// [`WeightsError::NonFinite`] for an activation that is not finite, [`WeightsError::Length`].
    pub fn multiply(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let batch = x.len() / self.tensor.shape().1.max(1);
        self.matrix()?.multiply(x, batch, out)
    }

    /// For each output of [`multiply`](Self::multiply), how far it may be from the product with the weights that the
    /// codes stand for.
    ///
    /// # Errors
    /// As there.
    pub fn bound(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let batch = x.len() / self.tensor.shape().1.max(1);
        self.matrix()?.bound(x, batch, out)
    }

    fn matrix(&self) -> Result<&PackedMatrix, WeightsError> {
        if let Some(matrix) = self.matrix.get() {
            return Ok(matrix);
        }
        // Two threads may both make it; it is the same.
        let matrix = PackedMatrix::new(Arc::clone(&self.tensor))?;
        Ok(self.matrix.get_or_init(|| matrix))
    }
}
