//! `QuantizedTensor`: a whole matrix in one weight format, in memory.

use alloc::vec;
use alloc::vec::Vec;

use super::scaled::whole_rows;
use super::{Parts, PartsBuf, WeightFormat};
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
    /// [`CodecErr::NonFinite`], [`CodecErr::RaggedBlocks`], and settings that are out of range.
    pub fn quantize(format: WeightFormat, values: &[f32], cols: usize) -> Result<Self, CodecErr> {
        Self::quantize_with(format, values, cols, None)
    }

    /// The same, with a number per column that says how much its errors matter.
    ///
    /// # Errors
    /// As [`quantize`](Self::quantize).
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

    /// A tensor of arrays read from somewhere.
    ///
    /// # Errors
    /// [`CodecErr::InputTooSmall`] if they do not have the sizes of such a matrix.
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

    /// The weights these codes stand for.
    ///
    /// # Errors
    /// [`CodecErr::InvalidScale`] if the parts came from elsewhere and a scale is not finite.
    pub fn dequantize(&self) -> Result<Vec<f32>, CodecErr> {
        let mut out = vec![0.0; self.rows * self.cols];
        self.format.decode_rows(self.parts(), self.cols, &mut out)?;
        Ok(out)
    }

    /// What was lost of `original`.
    ///
    /// # Errors
    /// [`CodecErr::LengthMismatch`], and as [`dequantize`](Self::dequantize).
    pub fn error(&self, original: &[f32]) -> Result<Fidelity, CodecErr> {
        Fidelity::measure(original, &self.dequantize()?)
    }

    /// The format.
    #[must_use]
    pub const fn format(&self) -> WeightFormat {
        self.format
    }

    /// Rows and columns.
    #[must_use]
    pub const fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// Codes, scales and zero points.
    #[must_use]
    pub fn parts(&self) -> Parts<'_> {
        self.parts.parts()
    }

    /// Bytes it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.parts.codes.len() + 4 * self.parts.scales.len() + self.parts.zeros.len()
    }
}
