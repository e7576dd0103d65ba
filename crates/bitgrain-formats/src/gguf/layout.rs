//! Size of a tensor in bytes; shared by reader and writer.

use super::{GgufError, MAX_DIMS, TensorType};
use crate::elements::elements;

/// Returns the size of a tensor in bytes.
///
/// # Errors
/// Returns [`GgufError::DimCount`], [`GgufError::TooLarge`] or [`GgufError::RaggedRow`].
pub(super) fn tensor_bytes(tensor: &str, dims: &[u64], kind: TensorType) -> Result<u64, GgufError> {
    if dims.len() > MAX_DIMS {
        return Err(GgufError::DimCount { tensor: tensor.into(), count: dims.len() as u64 });
    }
    let too_large = || GgufError::TooLarge { tensor: tensor.into(), dims: dims.into() };
    let count = elements(dims).ok_or_else(too_large)?;
    let (row, block) = (dims.first().copied().unwrap_or(1), kind.block_weights());
    if !row.is_multiple_of(block) {
        return Err(GgufError::RaggedRow { tensor: tensor.into(), row, block, kind: kind.name() });
    }
    kind.bytes_of(count).ok_or_else(too_large)
}
