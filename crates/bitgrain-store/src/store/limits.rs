//! What a tensor may be.

use bitgrain_formats::segment::MAX_RANK;

use crate::StoreError;

/// Most pairs of user metadata.
const MAX_PAIRS: usize = 1024;
/// Most bytes of user metadata.
const MAX_USER: usize = 256 << 10;

/// Whether a shape has as many values as were given.
pub(super) fn check_shape(shape: &[usize], got: usize) -> Result<(), StoreError> {
    if shape.len() > MAX_RANK {
        return Err(StoreError::TooManyAxes { axes: shape.len(), limit: MAX_RANK });
    }
    let expected = elements(shape)?;
    if expected == got { Ok(()) } else { Err(StoreError::ShapeMismatch { expected, got }) }
}

/// Product of the axes.
pub(super) fn elements(shape: &[usize]) -> Result<usize, StoreError> {
    // Zeros come last, so that no order of the axes overflows.
    let product = shape.iter().filter(|axis| **axis != 0).try_fold(4_usize, |bytes, axis| bytes.checked_mul(*axis));
    match product.filter(|bytes| isize::try_from(*bytes).is_ok()) {
        Some(_) if shape.contains(&0) => Ok(0),
        Some(bytes) => Ok(bytes / 4),
        None => Err(StoreError::ShapeOverflow { shape: shape.to_vec() }),
    }
}

/// Whether an error may be a limit.
pub(super) fn check_max_error(max_error: f32) -> Result<(), StoreError> {
    if max_error.is_finite() && max_error.is_sign_positive() {
        Ok(())
    } else {
        Err(StoreError::InvalidMaxError { max_error })
    }
}

/// Whether user metadata is within its limits.
pub(super) fn check_user(pairs: &[(String, String)]) -> Result<(), StoreError> {
    let bytes = pairs.iter().map(|(key, value)| key.len() + value.len()).sum();
    if pairs.len() > MAX_PAIRS || bytes > MAX_USER {
        let (max_pairs, max_bytes) = (MAX_PAIRS, MAX_USER);
        return Err(StoreError::UserTooLarge { pairs: pairs.len(), bytes, max_pairs, max_bytes });
    }
    Ok(())
}
