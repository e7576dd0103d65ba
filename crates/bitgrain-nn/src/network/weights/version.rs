//! `Version`: a quantized copy of the weights, and products with its codes.

use std::sync::{Arc, OnceLock};

use bitgrain_codec::weight::{QuantizedTensor, WeightFormat};

use super::WeightsError;
use crate::network::product::PackedMatrix;

/// An immutable quantized copy of the weights.
#[derive(Debug)]
pub struct Version {
    format: WeightFormat,
    shape: (usize, usize),
    /// Empty if the packed codes are the only copy.
    tensor: Option<Arc<QuantizedTensor>>,
    /// The codes packed for products, created on first use.
    matrix: OnceLock<PackedMatrix>,
}

impl Version {
    /// Creates a version that was requested as `format` and is stored as `tensor`.
    ///
    /// # Errors
    /// Returns [`WeightsError::Overflow`] if a code decodes to infinity, [`WeightsError::Codec`] if codes are invalid.
    pub fn new(format: WeightFormat, tensor: QuantizedTensor) -> Result<Self, WeightsError> {
        let (rows, cols) = tensor.shape();
        let version = Self { format, shape: (rows, cols), tensor: Some(Arc::new(tensor)), matrix: OnceLock::new() };
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

    /// Keeps only the codes that are packed for products, if the tensor can be restored from them.
    ///
    /// # Errors
    /// Returns [`WeightsError::Codec`] if codes are invalid.
    pub(crate) fn compacted(&self) -> Result<Self, WeightsError> {
        let (format, shape, tensor) = (self.format, self.shape, self.tensor.clone());
        let Some(tensor) = tensor else {
            return Ok(Self { format, shape, tensor, matrix: self.matrix.clone() });
        };
        let matrix = PackedMatrix::new(Arc::clone(&tensor))?;
        // Strips of sixteen rows take more memory than a few rows.
        let is_small = matrix.bytes() <= tensor.bytes() + tensor.bytes() / 2;
        if is_small && matrix.tensor()?.as_ref() == Some(&*tensor) {
            return Ok(Self { format, shape, tensor: None, matrix: OnceLock::from(matrix) });
        }
        Ok(Self { format, shape, tensor: Some(tensor), matrix: OnceLock::new() })
    }

    /// Returns the number of rows and columns.
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Returns the tensor in its file layout: in the requested format, or in a fallback if the row length is not a multiple
    /// of its block length. A frozen version restores it from the packed codes on each call.
    #[must_use]
    pub fn tensor(&self) -> Arc<QuantizedTensor> {
        if let Some(tensor) = &self.tensor {
            return Arc::clone(tensor);
        }
        let restored = self.matrix.get().and_then(|matrix| matrix.tensor().ok().flatten());
        Arc::new(restored.expect("the tensor was dropped after it had been restored once"))
    }

    /// Returns the size of the stored weights in bytes, without a packed copy.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.tensor.as_ref().map_or_else(|| self.bytes(), |tensor| tensor.bytes())
    }

    /// Returns the size in memory in bytes: the codes in one or both layouts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.tensor {
            Some(tensor) => tensor.bytes() + self.matrix.get().map_or(0, PackedMatrix::own_bytes),
            None => self.matrix.get().map_or(0, PackedMatrix::bytes),
        }
    }

    /// Decodes one row.
    ///
    /// # Errors
    /// Returns [`WeightsError::Codec`] if the row does not exist or codes are invalid.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        match &self.tensor {
            Some(tensor) => Ok(tensor.columns_into(row, 0, out)?),
            None => self.matrix()?.row_into(row, out),
        }
    }

    /// Computes `out = x · weightsᵀ` on the codes.
    ///
    /// # Errors
    /// Returns [`WeightsError::NonFinite`] for an activation that is not finite, [`WeightsError::Length`] if `x` or
    /// `out` has another length.
    pub fn multiply(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let batch = x.len() / self.shape.1.max(1);
        self.matrix()?.multiply(x, batch, out)
    }

    /// Bounds the absolute difference of each output of [`multiply`](Self::multiply) from the exact product with the
    /// decoded weights.
    ///
    /// # Errors
    /// Same as [`multiply`](Self::multiply).
    pub fn bound(&self, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
        let batch = x.len() / self.shape.1.max(1);
        self.matrix()?.bound(x, batch, out)
    }

    fn matrix(&self) -> Result<&PackedMatrix, WeightsError> {
        if let Some(matrix) = self.matrix.get() {
            return Ok(matrix);
        }
        // Two threads may both pack the codes; the results are equal, and `get_or_init` keeps one.
        let matrix = PackedMatrix::new(self.tensor())?;
        Ok(self.matrix.get_or_init(|| matrix))
    }
}
