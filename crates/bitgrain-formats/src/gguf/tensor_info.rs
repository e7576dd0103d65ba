//! `TensorInfo`: header entry of a tensor.

use std::ops::Range;

use super::cursor::{Cursor, Place};
use super::layout::tensor_bytes;
use super::{GgufError, MAX_DIMS, TensorType};

/// Size of the smallest entry in bytes: name length, dimension count, type, offset.
pub(super) const LEAST_BYTES: u64 = 8 + 4 + 4 + 8;

/// Name, shape, type and location of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Name, unique in the file.
    pub name: String,
    /// Up to four dimensions; the contiguous dimension comes first.
    pub dims: Vec<u64>,
    /// Storage type.
    pub kind: TensorType,
    /// Offset from the start of the tensor data.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Start offset in the file.
    pub(super) start: usize,
    /// End offset in the file.
    pub(super) end: usize,
}

impl TensorInfo {
    /// Reads one entry; its file offset is filled in once all entries are known.
    pub(super) fn read(cursor: &mut Cursor<'_>, index: u64) -> Result<Self, GgufError> {
        let name = cursor.string(Place::TensorName(index))?;
        let count = cursor.u32(Place::Tensor("number of dimensions", name))?;
        if count as usize > MAX_DIMS {
            return Err(GgufError::DimCount { tensor: name.into(), count: count.into() });
        }
        let dims = (0..count).map(|_| cursor.u64(Place::Tensor("dimensions", name))).collect::<Result<Vec<_>, _>>()?;
        let id = cursor.u32(Place::Tensor("type", name))?;
        let kind = TensorType::from_id(id).ok_or_else(|| GgufError::TensorType { tensor: name.into(), id })?;
        let offset = cursor.u64(Place::Tensor("offset", name))?;
        let bytes = tensor_bytes(name, &dims, kind)?;
        Ok(Self { name: name.into(), dims, kind, offset, bytes, start: 0, end: 0 })
    }

    /// Returns the dimensions outermost first, as in safetensors and NumPy.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.dims.iter().rev().copied().collect()
    }

    /// Returns the number of weights; 1 without dimensions.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.dims.iter().product()
    }

    /// Returns the byte range in the file that was parsed.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}
