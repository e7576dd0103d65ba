//! `Version`: a quantized copy of the weights, and products with its codes.

use bitgrain_codec::weight::{Parts, QuantizedTensor, Scaling, WeightFormat};
use rayon::prelude::*;

use super::StoreError;
use crate::matmul::dot;

/// Rows of the matrix that a thread unpacks at a time.
const ROWS: usize = 16;

/// A quantized copy of the weights. It never changes.
#[derive(Debug)]
pub struct Version {
    format: WeightFormat,
    tensor: QuantizedTensor,
}

impl Version {
    /// A version that was asked for as `format` and is stored as `tensor`.
    ///
    /// # Errors
    /// [`StoreError::Overflow`] if codes stand for infinities, [`StoreError::Codec`] if they cannot be read.
    pub fn new(format: WeightFormat, tensor: QuantizedTensor) -> Result<Self, StoreError> {
        let version = Self { format, tensor };
        let (rows, cols) = version.tensor.shape();
        let mut row = vec![0.0; cols];
        for at in 0..rows {
            version.row_into(at, &mut row)?;
            if let Some(index) = row.iter().position(|weight| !weight.is_finite()) {
                return Err(StoreError::Overflow { format: format.to_string(), index: at * cols + index });
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
    pub const fn tensor(&self) -> &QuantizedTensor {
        &self.tensor
    }

    /// Bytes it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tensor.bytes()
    }

    /// The weights of one row.
    ///
    /// # Errors
    /// What decoding brings.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), StoreError> {
        let cols = self.tensor.shape().1;
        Ok(self.tensor.format().decode_rows(self.row_parts(row), cols, out)?)
    }

    /// `out = x · weightsᵀ`, for rows `x` as long as those of the matrix; of the weights a few rows at a time are unpacked.
    ///
    /// # Errors
    /// What decoding brings.
    pub fn multiply(&self, x: &[f32], out: &mut [f32]) -> Result<(), StoreError> {
        let (rows, cols) = self.tensor.shape();
        let count = x.len() / cols;
        let piece = |start: usize| {
            let rows = start..rows.min(start + ROWS);
            let mut row = vec![0.0; cols];
            let mut products = Vec::with_capacity(rows.len() * count);
            for at in rows {
                self.row_into(at, &mut row)?;
                products.extend(x.chunks_exact(cols).map(|x| dot(x, &row)));
            }
            Ok((start, products))
        };
        let starts: Vec<usize> = (0..rows).step_by(ROWS).collect();
        let pieces: Vec<(usize, Vec<f32>)> = starts.into_par_iter().map(piece).collect::<Result<_, StoreError>>()?;
        for (start, products) in pieces {
            for (at, products) in products.chunks_exact(count.max(1)).enumerate() {
                products.iter().enumerate().for_each(|(i, product)| out[i * rows + start + at] = *product);
            }
        }
        Ok(())
    }

    fn row_parts(&self, row: usize) -> Parts<'_> {
        let (parts, (rows, _)) = (self.tensor.parts(), self.tensor.shape());
        let shared = matches!(self.tensor.format(), WeightFormat::Scaled(f) if f.scaling == Scaling::Tensor);
        let each = |len: usize| if shared { (0, len) } else { (row * (len / rows), len / rows) };
        let (codes, (scale, scales), (zero, zeros)) =
            (parts.codes.len() / rows, each(parts.scales.len()), each(parts.zeros.len()));
        Parts {
            codes: &parts.codes[row * codes..][..codes],
            scales: &parts.scales[scale..][..scales],
            zeros: &parts.zeros[zero..][..zeros],
        }
    }
}
