//! Sums from which all error metrics of an encoding are derived.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Sums over pairs of an original and a decoded value. Pairs whose original is not finite are skipped and counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ErrorSums {
    /// Sum of `(x - y)^2`; infinite if a decoded value is not finite where the original is.
    pub squares: f64,
    /// Sum of `x^2`.
    pub original: f64,
    /// Sum of `y^2`.
    pub decoded: f64,
    /// Sum of `x * y`.
    pub product: f64,
    /// Largest `|x - y|`.
    pub max: f64,
    /// Number of skipped pairs.
    pub skipped: usize,
}

impl ErrorSums {
    /// Combines the sums of two parts.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            squares: self.squares + other.squares,
            original: self.original + other.original,
            decoded: self.decoded + other.decoded,
            product: self.product + other.product,
            max: self.max.max(other.max),
            skipped: self.skipped + other.skipped,
        }
    }
}

/// Computes the sums over the pairs of two slices in eight partial f64 sums, so that backends agree bit by bit.
///
/// ```
/// use bitgrain_kernels::{Backend, error_sums};
/// let sums = error_sums(Backend::best(), &[3.0, 4.0], &[3.0, 4.5])?;
/// assert_eq!((sums.squares, sums.max), (0.25, 0.5));
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if the slices have different lengths.
pub fn error_sums(backend: Backend, original: &[f32], decoded: &[f32]) -> Result<ErrorSums, KernelError> {
    if original.len() != decoded.len() {
        return Err(KernelError::InputTooSmall { required: original.len().max(decoded.len()) });
    }
    Ok(on!(backend, error_sums(original, decoded)))
}
