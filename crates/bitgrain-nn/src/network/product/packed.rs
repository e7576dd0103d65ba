//! `PackedMatrix`: quantized weights, packed for products.

use std::sync::Arc;

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{DType, QuantizedTensor, ScaledFormat, WeightFormat, check_finite};

use super::codes::CodeMatrix;
use super::elements::ElementMatrix;
use super::floats::FloatMatrix;
use super::planes::PlaneMatrix;
use super::unpacked::UnpackedMatrix;
use super::{WeightsError, bound};

/// A matrix of quantized weights, rows × columns, packed for products with activations.
///
/// ```
/// use bitgrain_codec::weight::{DType, QuantizedTensor, ScaledFormat};
/// use bitgrain_nn::network::product::PackedMatrix;
/// let weights = QuantizedTensor::quantize(ScaledFormat::new(DType::Int8).into(), &[1.27, 0.0, 0.0, -1.27], 2)?;
/// let matrix = PackedMatrix::new(weights)?;
/// let mut out = [0.0; 2];
/// matrix.multiply(&[1.0, 2.0], 1, &mut out)?;
/// assert!((out[0] - 1.27).abs() < 0.02 && (out[1] + 2.54).abs() < 0.02);
/// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct PackedMatrix {
    format: WeightFormat,
    rows: usize,
    cols: usize,
    weights: Weights,
}

#[derive(Debug, Clone)]
enum Weights {
    Codes(CodeMatrix),
    Planes(PlaneMatrix),
    Elements(ElementMatrix),
    Floats(FloatMatrix),
    Unpacked(UnpackedMatrix),
}

impl PackedMatrix {
    /// Packs the codes of a tensor.
    ///
    /// # Errors
    /// Returns [`WeightsError::Codec`] if a weight is not finite.
    pub fn new(tensor: impl Into<Arc<QuantizedTensor>>) -> Result<Self, WeightsError> {
        let tensor = tensor.into();
        let (format, (rows, cols)) = (tensor.format(), tensor.shape());
        let plain = matches!(format, WeightFormat::Scaled(ScaledFormat { dtype: DType::Float32, .. }));
        let weights = if let Some(codes) = CodeMatrix::new(&tensor)? {
            Weights::Codes(codes)
        } else if let Some(planes) = PlaneMatrix::new(&tensor)? {
            check_weights(&tensor)?;
            Weights::Planes(planes)
        } else if let Some(elements) = ElementMatrix::new(&tensor) {
            check_weights(&tensor)?;
            Weights::Elements(elements)
        } else if plain && rows > 0 && cols > 0 {
            let weights = tensor.dequantize()?;
            check_finite(&weights)?;
            Weights::Floats(FloatMatrix::new(&weights, cols)?)
        } else {
            check_weights(&tensor)?;
            Weights::Unpacked(UnpackedMatrix::new(tensor))
        };
        Ok(Self { format, rows, cols, weights })
    }

    /// Returns the format of the weights.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Returns the number of rows (outputs) and columns (inputs).
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Returns the size in memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.weights {
            Weights::Codes(weights) => weights.bytes(),
            Weights::Planes(weights) => weights.bytes(),
            Weights::Elements(weights) => weights.bytes(),
            Weights::Floats(weights) => weights.bytes(),
            Weights::Unpacked(weights) => weights.bytes(),
        }
    }

    /// Returns the bytes that are not shared with the tensor the matrix was made from.
    pub(crate) fn own_bytes(&self) -> usize {
        if matches!(self.weights, Weights::Unpacked(_)) { 0 } else { self.bytes() }
    }

    /// Computes `out = x·Wᵀ`, where `x` is batch × columns and `out` is batch × rows of the matrix.
    ///
    /// # Errors
    /// Returns [`WeightsError::Length`] if `x` or `out` has another length, and [`WeightsError::NonFinite`] for
    /// activations that are NaN or infinite; `out` is then unspecified.
    pub fn multiply(&self, x: &[f32], batch: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        self.check_lengths(x, batch, out)?;
        if out.is_empty() {
            return self.check_finite(x);
        }
        match &self.weights {
            // Quantizing the activations already rejects those that are not finite.
            Weights::Codes(weights) => return weights.multiply(x, out),
            Weights::Planes(weights) => return weights.multiply(x, out),
            Weights::Elements(_) | Weights::Floats(_) | Weights::Unpacked(_) => self.check_finite(x)?,
        }
        match &self.weights {
            Weights::Codes(_) | Weights::Planes(_) => Ok(()),
            _ if self.cols == 0 => {
                out.fill(0.0);
                Ok(())
            }
            Weights::Elements(weights) => weights.multiply(x, batch, out),
            Weights::Floats(weights) => weights.multiply(x, batch, out),
            Weights::Unpacked(weights) => weights.multiply(x, batch, out),
        }
    }

    /// Decodes the weights of a row, as in an embedding lookup.
    ///
    /// # Errors
    /// Returns [`WeightsError::NoRow`] for a row out of range and [`WeightsError::Length`] if `out` has another length.
    pub fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        let (rows, cols) = self.shape();
        if row >= rows {
            return Err(WeightsError::NoRow { row, rows });
        }
        if out.len() != cols {
            return Err(WeightsError::Length { what: "row buffer", found: out.len(), rows: 1, cols });
        }
        match &self.weights {
            Weights::Codes(weights) => weights.row_into(row, out),
            Weights::Planes(weights) => weights.row_into(row, out, None),
            Weights::Elements(weights) => weights.row_into(row, out),
            Weights::Floats(weights) => {
                weights.row_into(row, out);
                Ok(())
            }
            Weights::Unpacked(weights) => weights.row_into(row, out),
        }
    }

    /// Decodes the weights of a row, and the magnitudes of the terms that its products add for each: those of a scaled
    /// code and of a minimum may exceed their sum.
    pub(super) fn terms_into(&self, row: usize, out: &mut [f32], magnitudes: &mut [f32]) -> Result<(), WeightsError> {
        if let Weights::Planes(weights) = &self.weights {
            return weights.row_into(row, out, Some(magnitudes));
        }
        self.row_into(row, out)?;
        magnitudes.iter_mut().zip(out).for_each(|(magnitude, weight)| *magnitude = weight.abs());
        Ok(())
    }

    /// Restores the tensor that the matrix was packed from. Returns `None` if the matrix shares its codes with the tensor, or
    /// if they do not determine its bytes.
    pub(crate) fn tensor(&self) -> Result<Option<QuantizedTensor>, WeightsError> {
        match &self.weights {
            Weights::Codes(weights) => weights.tensor(self.format),
            Weights::Planes(weights) => weights.tensor(self.format),
            Weights::Elements(weights) => weights.tensor(self.format),
            Weights::Floats(_) | Weights::Unpacked(_) => Ok(None),
        }
    }

    /// Bounds the absolute difference of each output of [`multiply`](Self::multiply) from the exact product with
    /// dequantized weights: the rounding of the activations and of the sums. Takes longer than the product.
    ///
    /// # Errors
    /// Same as [`multiply`](Self::multiply).
    pub fn bound(&self, x: &[f32], batch: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        self.check_lengths(x, batch, out)?;
        self.check_finite(x)?;
        match self.weights {
            Weights::Codes(_) | Weights::Planes(_) => bound::of_codes(self, x, out),
            Weights::Elements(_) | Weights::Floats(_) | Weights::Unpacked(_) => bound::of_floats(self, x, out),
        }
    }

    fn check_lengths(&self, x: &[f32], batch: usize, out: &[f32]) -> Result<(), WeightsError> {
        for (what, found, cols) in [("x", x.len(), self.cols), ("output", out.len(), self.rows)] {
            if batch.checked_mul(cols) != Some(found) {
                return Err(WeightsError::Length { what, found, rows: batch, cols });
            }
        }
        Ok(())
    }

    fn check_finite(&self, x: &[f32]) -> Result<(), WeightsError> {
        match check_finite(x) {
            Err(CodecErr::NonFinite { index }) => {
                Err(WeightsError::NonFinite { row: index / self.cols, column: index % self.cols })
            }
            other => Ok(other?),
        }
    }
}

/// Checks that all weights are finite.
fn check_weights(tensor: &QuantizedTensor) -> Result<(), WeightsError> {
    let (rows, cols) = tensor.shape();
    let mut row = vec![0.0; cols];
    for at in 0..rows {
        tensor.columns_into(at, 0, &mut row)?;
        if let Err(CodecErr::NonFinite { index }) = check_finite(&row) {
            return Err(CodecErr::NonFinite { index: at * cols + index }.into());
        }
    }
    Ok(())
}
