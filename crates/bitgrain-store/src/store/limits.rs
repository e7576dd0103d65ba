//! Limits of shapes, error limits and user metadata.

use bitgrain_formats::segment::MAX_RANK;

use crate::StoreError;

/// Maximum number of user metadata pairs.
const MAX_PAIRS: usize = 1024;
/// Maximum total size of user metadata in bytes.
const MAX_USER: usize = 256 << 10;

/// Checks that a shape matches the number of values.
pub(super) fn check_shape(shape: &[usize], got: usize) -> Result<(), StoreError> {
    if shape.len() > MAX_RANK {
        return Err(StoreError::TooManyAxes { axes: shape.len(), limit: MAX_RANK });
    }
    let expected = elements(shape)?;
    if expected == got { Ok(()) } else { Err(StoreError::ShapeMismatch { expected, got }) }
}

/// Returns the product of the axes.
pub(super) fn elements(shape: &[usize]) -> Result<usize, StoreError> {
    // Zeros are left out of the check, so that the product overflows for no order of the axes.
    let product = shape.iter().filter(|axis| **axis != 0).try_fold(4_usize, |bytes, axis| bytes.checked_mul(*axis));
    match product.filter(|bytes| isize::try_from(*bytes).is_ok()) {
        Some(_) if shape.contains(&0) => Ok(0),
        Some(bytes) => Ok(bytes / 4),
        None => Err(StoreError::ShapeOverflow { shape: shape.to_vec() }),
    }
}

/// Checks that an error limit is finite and not negative.
pub(super) fn check_max_error(max_error: f32) -> Result<(), StoreError> {
    if max_error.is_finite() && max_error.is_sign_positive() {
        Ok(())
    } else {
        Err(StoreError::InvalidMaxError { max_error })
    }
}

/// Checks that user metadata is within its limits.
pub(super) fn check_user(pairs: &[(String, String)]) -> Result<(), StoreError> {
    let bytes = pairs.iter().map(|(key, value)| key.len() + value.len()).sum();
    if pairs.len() > MAX_PAIRS || bytes > MAX_USER {
        let (max_pairs, max_bytes) = (MAX_PAIRS, MAX_USER);
        return Err(StoreError::UserTooLarge { pairs: pairs.len(), bytes, max_pairs, max_bytes });
    }
    Ok(())
}
