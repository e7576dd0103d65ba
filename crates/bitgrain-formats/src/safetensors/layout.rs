//! Size of a tensor in bytes; shared by reader and writer.

use super::{Dtype, SafetensorsError};
use crate::elements::elements;

/// Returns the size of a tensor in bytes.
///
/// # Errors
/// Returns [`SafetensorsError::TooLarge`] or [`SafetensorsError::PartialByte`].
pub(super) fn tensor_bytes(tensor: &str, dtype: Dtype, shape: &[u64]) -> Result<u64, SafetensorsError> {
    let counted = elements(shape).and_then(|elements| Some((elements, elements.checked_mul(dtype.bits())?)));
    let (elements, bits) =
        counted.ok_or_else(|| SafetensorsError::TooLarge { tensor: tensor.into(), shape: shape.into() })?;
    if bits.is_multiple_of(8) {
        Ok(bits / 8)
    } else {
        Err(SafetensorsError::PartialByte { tensor: tensor.into(), elements, bits: dtype.bits(), dtype })
    }
}
