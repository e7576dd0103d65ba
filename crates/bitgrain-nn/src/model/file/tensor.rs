//! `ModelTensor`: name, shape and storage of one tensor of a model.

use super::bytes::Bytes;
use super::{Rows, TensorEncoding};
use crate::model::{ModelFileError, pieces};

/// A tensor of a model. Its values are read when they are asked for.
#[derive(Debug, Clone)]
pub struct ModelTensor {
    /// Its name.
    pub name: String,
    /// Its dimensions, outermost first; the last one is contiguous. Empty for a scalar.
    pub shape: Vec<u64>,
    /// How its numbers are stored.
    pub storage: TensorEncoding,
    pub(crate) codes: Bytes,
    /// Present where scales and zero points lie apart from the codes.
    pub(crate) scales: Option<Bytes>,
    pub(crate) zeros: Option<Bytes>,
}

impl ModelTensor {
    /// How many numbers it holds.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Rows: all dimensions but the last. A vector is one row.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shape.split_last().map_or(1, |(_, outer)| outer.iter().product())
    }

    /// Numbers in a row.
    #[must_use]
    pub fn cols(&self) -> u64 {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Rows and columns as lengths in memory.
    pub(crate) fn matrix_shape(&self) -> Result<(usize, usize), ModelFileError> {
        let (rows, cols) = (self.rows(), self.cols());
        match (usize::try_from(rows), usize::try_from(cols)) {
            (Ok(rows), Ok(cols)) if rows.checked_mul(cols).is_some() => Ok((rows, cols)),
            _ => Err(ModelFileError::TooLarge { tensor: self.name.clone(), rows, cols }),
        }
    }

    /// Bytes in the file, scales included.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let others = [&self.scales, &self.zeros].into_iter().flatten();
        self.codes.len() + others.map(Bytes::len).sum::<u64>()
    }

    /// Bits that a number takes in the file, scales included; 0 if it holds none.
    #[must_use]
    pub fn bits_per_weight(&self) -> f64 {
        bits_per_weight(self.bytes(), self.elements())
    }

    /// Makes its rows readable.
    pub(crate) fn load(&self) -> Result<Rows, ModelFileError> {
        Rows::load(self)
    }

    /// All values. Mind the size: `elements()` times four bytes.
    ///
    /// # Errors
    /// [`ModelFileError::Unreadable`] for formats that cannot be dequantized, and what reading brings.
    pub fn values(&self) -> Result<Vec<f32>, ModelFileError> {
        pieces::decoded(&self.load()?)
    }
}

/// Bits per number, or 0 if there are none.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
pub fn bits_per_weight(bytes: u64, elements: u64) -> f64 {
    if elements == 0 { 0.0 } else { 8.0 * bytes as f64 / elements as f64 }
}
