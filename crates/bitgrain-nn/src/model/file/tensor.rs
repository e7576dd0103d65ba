//! `ModelTensor`: name, shape and encoding of a tensor of a model.

use std::path::Path;
use std::sync::Arc;

use super::bytes::Bytes;
use super::{Rows, TensorEncoding, View};
use crate::model::checkpoint::Packed;
use crate::model::{ModelFileError, pieces};

/// A tensor of a model. Its values are read on demand.
#[derive(Debug, Clone)]
pub struct ModelTensor {
    /// Name of the tensor.
    pub name: String,
    /// Shape, outermost dimension first; the last is contiguous. Empty for a scalar.
    pub shape: Vec<u64>,
    /// Storage format of the values.
    pub storage: TensorEncoding,
    pub(crate) codes: Bytes,
    /// Present if scales and zero points are stored apart from the codes.
    pub(crate) scales: Option<Bytes>,
    pub(crate) zeros: Option<Bytes>,
    /// Present if the values are read from other tensors; the tensor then has no separate bytes.
    pub(crate) view: Option<Arc<View>>,
    /// Present if the values are stored as another quantizer packed them; `codes` are then its codes.
    pub(crate) packed: Option<Arc<Packed>>,
}

impl ModelTensor {
    /// Returns the number of values.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns the number of rows: the product of all dimensions but the last. A vector is one row.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shape.split_last().map_or(1, |(_, outer)| outer.iter().product())
    }

    /// Returns the number of values per row.
    #[must_use]
    pub fn cols(&self) -> u64 {
        self.shape.last().copied().unwrap_or(1)
    }

    /// Returns rows and columns as `usize`, if their product fits too.
    pub(crate) fn matrix_shape(&self) -> Result<(usize, usize), ModelFileError> {
        let (rows, cols) = (self.rows(), self.cols());
        match (usize::try_from(rows), usize::try_from(cols)) {
            (Ok(rows), Ok(cols)) if rows.checked_mul(cols).is_some() => Ok((rows, cols)),
            _ => Err(ModelFileError::TooLarge { tensor: self.name.clone(), rows, cols }),
        }
    }

    /// Returns the size in bytes, including scales.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        if let Some(packed) = &self.packed {
            return packed.bytes();
        }
        if let Some(view) = &self.view {
            if matches!(self.storage, TensorEncoding::Packed { .. }) {
                return view.parts.iter().map(Self::bytes).sum();
            }
            let sizes = self.matrix_shape().ok().zip(self.storage.format());
            let sizes = sizes.and_then(|((rows, cols), format)| format.sizes(rows, cols).ok());
            return sizes.map_or(0, |sizes| sizes.bytes() as u64);
        }
        let others = [&self.scales, &self.zeros].into_iter().flatten();
        self.codes.len() + others.map(Bytes::len).sum::<u64>()
    }

    /// Returns the bits per value, including scales; 0 for an empty tensor.
    #[must_use]
    pub fn bits_per_weight(&self) -> f64 {
        bits_per_weight(self.bytes(), self.elements())
    }

    /// Returns the files that hold the values.
    pub(crate) fn paths(&self) -> Vec<&Path> {
        match (&self.view, &self.packed) {
            (Some(view), _) => view.parts.iter().flat_map(Self::paths).collect(),
            (None, Some(packed)) => packed.paths(),
            (None, None) => self.codes.path().into_iter().collect(),
        }
    }

    /// Returns whether the values are computed as they are read, so that there are no bytes to copy.
    pub(crate) const fn is_computed(&self) -> bool {
        self.view.is_some() || self.packed.is_some()
    }

    /// Maps the arrays and checks their sizes.
    pub(crate) fn load(&self) -> Result<Rows, ModelFileError> {
        Rows::load(self)
    }

    /// Decodes all values, which takes `elements()` times four bytes.
    ///
    /// # Errors
    /// Returns [`ModelFileError::Unreadable`] for formats that cannot be dequantized, and I/O errors.
    pub fn values(&self) -> Result<Vec<f32>, ModelFileError> {
        pieces::decoded(&self.load()?)
    }
}

/// Returns bits per value, or 0 for zero elements.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
pub fn bits_per_weight(bytes: u64, elements: u64) -> f64 {
    if elements == 0 { 0.0 } else { 8.0 * bytes as f64 / elements as f64 }
}
