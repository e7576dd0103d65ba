//! `QuantizedTensor`: a matrix in memory, in one weight format.

use alloc::vec;
use alloc::vec::Vec;

use super::scaled::whole_rows;
use super::{Parts, PartsBuf, ScaledFormat, Scaling, WeightFormat};
use crate::{CodecErr, Fidelity};

/// A matrix as codes and scales, every code at its true width.
///
/// ```
/// use bitgrain_codec::weight::{DType, QuantizedTensor, ScaledFormat};
/// let weights = [1.27, -0.5, 0.0, 0.25];
/// let tensor = QuantizedTensor::quantize(ScaledFormat::new(DType::Int8).into(), &weights, 4)?;
/// assert_eq!(tensor.parts().codes, [127, 206, 0, 25]); // steps of 0.01; -50 as a byte is 206
/// assert!(tensor.error(&weights)?.max_error < 0.005);
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedTensor {
    format: WeightFormat,
    rows: usize,
    cols: usize,
    parts: PartsBuf,
}

impl QuantizedTensor {
    /// Quantizes finite weights in rows of `cols`.
    ///
    /// # Errors
    /// Returns [`CodecErr::NonFinite`], [`CodecErr::RaggedBlocks`], or an error for settings out of range.
    pub fn quantize(format: WeightFormat, values: &[f32], cols: usize) -> Result<Self, CodecErr> {
        Self::quantize_with(format, values, cols, None)
    }

    /// Quantizes with an importance per column, which weights its errors.
    ///
    /// # Errors
    /// Returns the errors of [`quantize`](Self::quantize).
    pub fn quantize_with(
        format: WeightFormat,
        values: &[f32],
        cols: usize,
        importance: Option<&[f32]>,
    ) -> Result<Self, CodecErr> {
        let rows = whole_rows(values.len(), cols)?;
        let mut parts = PartsBuf::new(format.sizes(rows, cols)?);
        format.encode_rows(values, cols, None, importance, parts.parts_mut())?;
        Ok(Self { format, rows, cols, parts })
    }

    /// Creates a tensor from existing arrays.
    ///
    /// # Errors
    /// Returns [`CodecErr::InputTooSmall`] if the arrays do not have the sizes of a matrix of this shape.
    pub fn from_parts(format: WeightFormat, rows: usize, cols: usize, parts: PartsBuf) -> Result<Self, CodecErr> {
        let sizes = format.sizes(rows, cols)?;
        let fits =
            [parts.codes.len(), parts.scales.len(), parts.zeros.len()] == [sizes.codes, sizes.scales, sizes.zeros];
        if fits {
            Ok(Self { format, rows, cols, parts })
        } else {
            Err(CodecErr::InputTooSmall { required: sizes.bytes() })
        }
    }

    /// Dequantizes the weights.
    ///
    /// # Errors
    /// Returns [`CodecErr::InvalidScale`] if the parts were supplied by the caller and a scale is not finite.
    pub fn dequantize(&self) -> Result<Vec<f32>, CodecErr> {
        let mut out = vec![0.0; self.rows * self.cols];
        self.format.decode_rows(self.parts(), self.cols, &mut out)?;
        Ok(out)
    }

    /// Dequantizes `out.len()` weights of one row from column `start`, which must be a multiple of
    /// [`step`](Self::step).
    ///
    /// ```
    /// use bitgrain_codec::weight::{DType, QuantizedTensor, ScaledFormat};
    /// let weights: Vec<f32> = (0..40).map(|i| i as f32).collect();
    /// let tensor = QuantizedTensor::quantize(ScaledFormat::new(DType::Float16).into(), &weights, 20)?;
    /// let mut some = [0.0; 3];
    /// tensor.columns_into(1, 8, &mut some)?;
    /// assert_eq!((tensor.step(), some), (8, [28.0, 29.0, 30.0]));
    /// # Ok::<(), bitgrain_codec::CodecErr>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`CodecErr::InvalidRange`] if the columns are not in the matrix or `start` is not a multiple of the
    /// step, [`CodecErr::RaggedBlocks`] if they end within a block, and the errors of [`dequantize`](Self::dequantize).
    pub fn columns_into(&self, row: usize, start: usize, out: &mut [f32]) -> Result<(), CodecErr> {
        let end = start.saturating_add(out.len());
        if row >= self.rows || end > self.cols || !start.is_multiple_of(self.step()) {
            return Err(CodecErr::InvalidRange { start, end, count: self.cols });
        }
        // Number of elements before the row, plus those before the first column in it.
        let from = |all: usize, before: usize| all / self.rows * row + before;
        let all = self.parts();
        let before = self.format.sizes(1, start)?;
        let codes = &all.codes[from(all.codes.len(), before.codes)..];
        let parts = match self.format {
            WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Channel, .. }) => Parts {
                codes,
                scales: &all.scales[from(all.scales.len(), 0)..],
                zeros: &all.zeros[from(all.zeros.len(), 0)..],
            },
            WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Group(_), .. }) => Parts {
                codes,
                scales: &all.scales[from(all.scales.len(), before.scales)..],
                zeros: &all.zeros[from(all.zeros.len(), before.zeros)..],
            },
            _ => Parts { codes, ..all },
        };
        self.format.decode_rows(parts, out.len(), out)
    }

    /// Returns the number of columns between positions where a row can be split: codes, scales and zero points all
    /// start on a byte there.
    #[must_use]
    pub const fn step(&self) -> usize {
        match self.format {
            WeightFormat::Scaled(ScaledFormat { scaling: Scaling::Group(len), .. }) => 8 * len.get(),
            WeightFormat::Scaled(_) => 8,
            WeightFormat::Ggml(_) | WeightFormat::Codebook(_) | WeightFormat::Q4F32 => self.format.block(),
        }
    }

    /// Measures the error against `original`.
    ///
    /// # Errors
    /// Returns [`CodecErr::LengthMismatch`], and the errors of [`dequantize`](Self::dequantize).
    pub fn error(&self, original: &[f32]) -> Result<Fidelity, CodecErr> {
        Fidelity::measure(original, &self.dequantize()?)
    }

    /// Returns the format.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Returns the number of rows and columns.
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Returns codes, scales and zero points.
    #[must_use]
    pub fn parts(&self) -> Parts<'_> {
        self.parts.parts()
    }

    /// Returns the size in memory in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.codes.len() + 4 * self.parts.scales.len() + self.parts.zeros.len()
    }
}
