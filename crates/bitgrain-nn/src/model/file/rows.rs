//! `Rows`: a loaded tensor, decoded by rows.

use std::ops::Range;

use bitgrain_codec::weight::{Parts, Scaling, WeightFormat};

use super::ModelTensor;
use super::bytes::Loaded;
use crate::model::ModelFileError;

/// A loaded tensor. Any run of rows can be decoded from any thread.
#[derive(Debug)]
pub(crate) struct Rows {
    name: String,
    format: WeightFormat,
    rows: usize,
    cols: usize,
    codes: Loaded,
    scales: Vec<f32>,
    zeros: Loaded,
}

impl Rows {
    pub(crate) fn load(tensor: &ModelTensor) -> Result<Self, ModelFileError> {
        let name = tensor.name.clone();
        let unreadable = || ModelFileError::Unreadable { tensor: name.clone(), kind: tensor.storage.to_string() };
        let format = tensor.storage.decoder().ok_or_else(unreadable)?;
        let size = |count: u64| usize::try_from(count).map_err(|_| unreadable());
        let (rows, cols) = (size(tensor.rows())?, size(tensor.cols())?);
        let scales = match &tensor.scales {
            Some(scales) => scales.load()?.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            None => Vec::new(),
        };
        let zeros = tensor.zeros.as_ref().map_or_else(|| Ok(Loaded::Owned([].into())), super::bytes::Bytes::load)?;
        let loaded = Self { name: tensor.name.clone(), format, rows, cols, codes: tensor.codes.load()?, scales, zeros };
        // Check sizes once, so that decoding any run of rows stays within the arrays.
        let sizes = format.sizes(rows, cols).map_err(ModelFileError::codec(&loaded.name))?;
        let enough = loaded.codes.len() >= sizes.codes
            && loaded.scales.len() >= sizes.scales
            && loaded.zeros.len() >= sizes.zeros;
        if enough { Ok(loaded) } else { Err(unreadable()) }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) const fn cols(&self) -> usize {
        self.cols
    }

    pub(crate) const fn len(&self) -> usize {
        self.rows * self.cols
    }

    /// Decodes a run of rows into `out`, whose length must match exactly.
    pub(crate) fn decode(&self, rows: Range<usize>, out: &mut [f32]) -> Result<(), ModelFileError> {
        let wrong = || ModelFileError::codec(&self.name);
        if self.cols == 0 || rows.is_empty() {
            return Ok(());
        }
        let sizes = |rows| self.format.sizes(rows, self.cols).map_err(wrong());
        let (before, here) = (sizes(rows.start)?, sizes(rows.len())?);
        let per_tensor = matches!(self.format, WeightFormat::Scaled(format) if format.scaling == Scaling::Tensor);
        let (scales, zeros) = if per_tensor { (0, 0) } else { (before.scales, before.zeros) };
        let parts = Parts {
            codes: &self.codes[before.codes..][..here.codes],
            scales: &self.scales[scales..][..here.scales],
            zeros: &self.zeros[zeros..][..here.zeros],
        };
        self.format.decode_rows(parts, self.cols, out).map_err(wrong())
    }
}
