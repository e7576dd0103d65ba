//! Largest magnitude of a slice.

use crate::Backend;
use crate::backend::on;

/// Returns the largest `|value|`; NaN is ignored, so that an empty or all-NaN slice gives 0.
///
/// ```
/// use bitgrain_kernels::{Backend, max_abs};
/// assert_eq!(max_abs(Backend::best(), &[1.0, f32::NAN, -2.5]), 2.5);
/// assert_eq!(max_abs(Backend::best(), &[]), 0.0);
/// ```
#[must_use]
pub fn max_abs(backend: Backend, values: &[f32]) -> f32 {
    on!(backend, max_abs(values))
}
