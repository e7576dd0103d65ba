//! Largest difference between two slices.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Returns the largest `|a - b|` of all pairs, computed in f32; pairs whose difference is NaN are ignored.
///
/// ```
/// use bitgrain_kernels::{Backend, max_difference};
/// assert_eq!(max_difference(Backend::best(), &[3.0, 4.0, 1.0], &[3.0, 4.5, 1.25])?, 0.5);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if the slices have different lengths.
pub fn max_difference(backend: Backend, a: &[f32], b: &[f32]) -> Result<f32, KernelError> {
    if a.len() != b.len() {
        return Err(KernelError::InputTooSmall { required: a.len().max(b.len()) });
    }
    Ok(on!(backend, max_difference(a, b)))
}
