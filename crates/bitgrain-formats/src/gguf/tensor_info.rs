//! `TensorInfo`: what the header says of a tensor.

use std::ops::Range;

use super::cursor::{Cursor, Place};
use super::layout::tensor_bytes;
use super::{GgufError, MAX_DIMS, TensorType};

/// Bytes of the smallest entry: the length of a name, the number of dimensions, a type, an offset.
pub(super) const LEAST_BYTES: u64 = 8 + 4 + 4 + 8;

/// A tensor of a file: its name, shape, type and place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInfo {
    /// Its name, unique in the file.
    pub name: String,
    /// Up to four dimensions, the contiguous one first.
    pub dims: Vec<u64>,
    /// How its weights are held.
    pub kind: TensorType,
    /// Where its bytes begin, counted from the start of the data.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// Where they begin in the file.
    pub(super) start: usize,
    /// Where they end in the file.
    pub(super) end: usize,
}

impl TensorInfo {
    /// Reads one entry; its place in the file is not known before all of them are read.
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

    /// The dimensions outermost first, as safetensors and NumPy have them.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.dims.iter().rev().copied().collect()
    }

    /// How many weights it has; 1 without dimensions.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.dims.iter().product()
    }

    /// Where its bytes are in the file; an index into the bytes that were parsed.
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}
