//! `InputBatch`: samples of one shape, one after another.

use std::sync::Arc;

use super::{NetworkError, Shape};

/// Samples of one shape, one after another, with what may be said about the places of their sequences.
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
    /// Samples of the dimensions `dims`, outermost first.
    ///
    /// # Errors
    /// [`NetworkError::EmptyBatch`], [`NetworkError::Ragged`], [`NetworkError::SampleSize`], or [`NetworkError::Nothing`]
    /// without dimensions.
    pub fn new(values: Vec<f32>, dims: &[usize]) -> Result<Self, NetworkError> {
        if dims.is_empty() {
            return Err(NetworkError::Nothing { what: "a shape with dimensions" });
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

    /// Says which places of the sequences count: one `bool` for each place of each sample. Attention does not look at
    /// the others, pooling leaves them out, and recurrent layers pass over them.
    ///
    /// # Errors
    /// [`NetworkError::Places`] if there are not as many places.
    pub fn with_mask(mut self, mask: Vec<bool>) -> Result<Self, NetworkError> {
        self.check_places("a mask", mask.len())?;
        self.mask = Some(mask.into());
        Ok(self)
    }

    /// Says of which type each place of the sequences is, for position tables that have types.
    ///
    /// # Errors
    /// [`NetworkError::Places`] if there are not as many places.
    pub fn with_types(mut self, types: Vec<usize>) -> Result<Self, NetworkError> {
        self.check_places("types", types.len())?;
        self.types = Some(types.into());
        Ok(self)
    }

    fn check_places(&self, what: &'static str, found: usize) -> Result<(), NetworkError> {
        let wanted = self.count * self.dims[0];
        if found == wanted { Ok(()) } else { Err(NetworkError::Places { what, wanted, found }) }
    }

    /// The numbers, sample after sample.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The numbers, to keep.
    #[must_use]
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// The dimensions of a sample, outermost first.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// How many samples there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Numbers of one sample.
    #[must_use]
    pub fn sample_len(&self) -> usize {
        self.values.len() / self.count
    }

    /// Which places count, if not all do.
    #[must_use]
    pub fn mask(&self) -> Option<&[bool]> {
        self.mask.as_deref()
    }

    /// The type of each place.
    #[must_use]
    pub fn types(&self) -> Option<&[usize]> {
        self.types.as_deref()
    }

    /// Some of the samples, in the order of `indices`.
    ///
    /// # Errors
    /// [`NetworkError::EmptyBatch`] without indices, [`NetworkError::Places`] for one that is not there.
    pub fn pick(&self, indices: &[usize]) -> Result<Self, NetworkError> {
        if indices.is_empty() {
            return Err(NetworkError::EmptyBatch);
        }
        if let Some(&found) = indices.iter().find(|index| **index >= self.count) {
            return Err(NetworkError::Places { what: "an index", wanted: self.count, found });
        }
        let values = rows_of(&self.values, self.sample_len(), indices);
        let mask = self.mask.as_ref().map(|mask| rows_of(mask, self.dims[0], indices).into());
        let types = self.types.as_ref().map(|types| rows_of(types, self.dims[0], indices).into());
        Ok(Self { values, dims: self.dims.clone(), count: indices.len(), mask, types })
    }

    /// The largest number's index in each run of the last dimension: the class that a classifier chooses.
    #[must_use]
    pub fn choices(&self) -> Vec<usize> {
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

    /// How many vectors of the last dimension there are.
    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.last()
    }

    /// The same samples with other numbers, and with `dims` as their dimensions. The mask stays while the outermost
    /// dimension does.
    pub(crate) fn with(&self, values: Vec<f32>, dims: Vec<usize>) -> Self {
        debug_assert_eq!(values.len(), self.count * dims.iter().product::<usize>());
        let kept = dims.first() == self.dims.first();
        let (mask, types) = (self.mask.clone().filter(|_| kept), self.types.clone().filter(|_| kept));
        Self { values, dims, count: self.count, mask, types }
    }

    /// The same with other numbers and another last dimension.
    pub(crate) fn with_last(&self, values: Vec<f32>, last: usize) -> Self {
        let mut dims = self.dims.clone();
        if let Some(dim) = dims.last_mut() {
            *dim = last;
        }
        let (mask, types) = (self.mask.clone(), self.types.clone());
        Self { values, dims, count: self.count, mask, types }
    }

    /// The same with as many other numbers.
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
