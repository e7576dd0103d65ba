//! `InputBatch`: samples of one shape.

use std::sync::Arc;

use super::{NetworkError, Shape};

/// Samples of one shape, stored contiguously, with an optional mask and types for the positions of their sequences.
///
/// ```
/// use bitgrain_nn::network::InputBatch;
/// let batch = InputBatch::new(vec![0.0; 12], &[2, 3])?;
/// assert_eq!((batch.count(), batch.dims()), (2, &[2, 3][..]));
/// assert!(InputBatch::new(vec![0.0; 7], &[2, 3]).is_err());
/// # Ok::<(), bitgrain_nn::network::NetworkError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct InputBatch {
    values: Vec<f32>,
    dims: Vec<usize>,
    count: usize,
    mask: Option<Arc<[bool]>>,
    types: Option<Arc<[usize]>>,
}

impl InputBatch {
    /// Creates a batch of samples with the dimensions `dims`, outermost first.
    ///
    /// # Errors
    /// Returns [`NetworkError::EmptyBatch`] without values, [`NetworkError::Ragged`] for an incomplete sample,
    /// [`NetworkError::SampleSize`] for dimensions that overflow, or [`NetworkError::Nothing`] without dimensions.
    pub fn new(values: Vec<f32>, dims: &[usize]) -> Result<Self, NetworkError> {
        if dims.is_empty() {
            return Err(NetworkError::Nothing { what: "samples with at least one dimension" });
        }
        let sample = dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(*dim));
        let sample = sample.ok_or_else(|| NetworkError::SampleSize { dims: dims.to_vec() })?;
        if values.is_empty() || sample == 0 {
            return Err(NetworkError::EmptyBatch);
        }
        if !values.len().is_multiple_of(sample) {
            return Err(NetworkError::Ragged { values: values.len(), sample });
        }
        let count = values.len() / sample;
        Ok(Self { values, dims: dims.to_vec(), count, mask: None, types: None })
    }

    /// Sets the mask: one `bool` per position of each sample. Attention and pooling ignore masked-out (`false`)
    /// positions, and recurrent layers skip them.
    ///
    /// # Errors
    /// Returns [`NetworkError::Places`] if the number of positions differs.
    pub fn with_mask(mut self, mask: Vec<bool>) -> Result<Self, NetworkError> {
        self.check_positions("mask length", mask.len())?;
        self.mask = Some(mask.into());
        Ok(self)
    }

    /// Sets the type of each position of the sequences, for position tables that have types.
    ///
    /// # Errors
    /// Returns [`NetworkError::Places`] if the number of positions differs.
    pub fn with_types(mut self, types: Vec<usize>) -> Result<Self, NetworkError> {
        self.check_positions("number of token types", types.len())?;
        self.types = Some(types.into());
        Ok(self)
    }

    fn check_positions(&self, what: &'static str, found: usize) -> Result<(), NetworkError> {
        let wanted = self.count * self.dims[0];
        if found == wanted { Ok(()) } else { Err(NetworkError::Places { what, wanted, found }) }
    }

    /// Returns the values, sample by sample.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the values and consumes the batch.
    #[must_use]
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Returns the dimensions of a sample, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Returns the number of samples.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of values per sample.
    #[must_use]
    pub fn sample_len(&self) -> usize {
        self.values.len() / self.count
    }

    /// Returns the mask, if set.
    #[must_use]
    pub fn mask(&self) -> Option<&[bool]> {
        self.mask.as_deref()
    }

    /// Returns the types of the positions, if set.
    #[must_use]
    pub fn types(&self) -> Option<&[usize]> {
        self.types.as_deref()
    }

    /// Copies the samples at `indices`, in that order.
    ///
    /// # Errors
    /// Returns [`NetworkError::EmptyBatch`] without indices and [`NetworkError::Places`] for an index out of range.
    pub fn select(&self, indices: &[usize]) -> Result<Self, NetworkError> {
        if indices.is_empty() {
            return Err(NetworkError::EmptyBatch);
        }
        if let Some(&found) = indices.iter().find(|index| **index >= self.count) {
            return Err(NetworkError::Places { what: "sample index", wanted: self.count, found });
        }
        let values = rows_of(&self.values, self.sample_len(), indices);
        let mask = self.mask.as_ref().map(|mask| rows_of(mask, self.dims[0], indices).into());
        let types = self.types.as_ref().map(|types| rows_of(types, self.dims[0], indices).into());
        Ok(Self { values, dims: self.dims.clone(), count: indices.len(), mask, types })
    }

    /// Returns the argmax of each vector along the last dimension: the class that a classifier chooses.
    #[must_use]
    pub fn argmax(&self) -> Vec<usize> {
        let best = |row: &[f32]| {
            row.iter()
                .enumerate()
                .fold((0, f32::NEG_INFINITY), |best, (i, x)| if *x > best.1 { (i, *x) } else { best })
                .0
        };
        self.values.chunks(self.last().max(1)).map(best).collect()
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::new(&self.dims)
    }

    pub(crate) fn last(&self) -> usize {
        self.dims.last().copied().unwrap_or(1)
    }

    /// Returns the number of vectors along the last dimension.
    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.last()
    }

    /// Replaces values and dimensions. The mask stays valid as long as the outermost dimension does not change.
    /// dimension does.
    pub(crate) fn with(&self, values: Vec<f32>, dims: Vec<usize>) -> Self {
        debug_assert_eq!(values.len(), self.count * dims.iter().product::<usize>());
        let kept = dims.first() == self.dims.first();
        let (mask, types) = (self.mask.clone().filter(|_| kept), self.types.clone().filter(|_| kept));
        Self { values, dims, count: self.count, mask, types }
    }

    /// Replaces the values and the last dimension.
    pub(crate) fn with_last(&self, values: Vec<f32>, last: usize) -> Self {
        let mut dims = self.dims.clone();
        if let Some(dim) = dims.last_mut() {
            *dim = last;
        }
        let (mask, types) = (self.mask.clone(), self.types.clone());
        Self { values, dims, count: self.count, mask, types }
    }

    /// Replaces the values by the same number of others.
    pub(crate) fn with_values(&self, values: Vec<f32>) -> Self {
        self.with(values, self.dims.clone())
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

fn rows_of<T: Copy>(values: &[T], len: usize, indices: &[usize]) -> Vec<T> {
    indices.iter().flat_map(|index| values[index * len..][..len].iter().copied()).collect()
}
