//! Conversion between values and codes, one byte per code.

use crate::backend::on;
use crate::{Backend, BitWidth, KernelError};

/// Quantizes `values` with one scale: divides, rounds ties to even, clamps to `-qmax..=qmax`. Returns the number of
/// values.
///
/// The result is that of an exact division: backends that multiply by the reciprocal check that the code is the same.
/// NaN gives 0; a `scale` of 0 gives 0 everywhere.
///
/// ```
/// use bitgrain_kernels::{Backend, BitWidth};
/// use bitgrain_kernels::codes::quantize;
/// let mut codes = [0; 4];
/// quantize(Backend::best(), BitWidth::W3, &[0.5, 1.5, -9.0, 2.0], 1.0, &mut codes)?;
/// assert_eq!(codes, [0, 2, -3, 2]); // both halves went to the even neighbor, -9 was clamped
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if `codes` is shorter than `values`.
pub fn quantize(
    backend: Backend,
    width: BitWidth,
    values: &[f32],
    scale: f32,
    codes: &mut [i8],
) -> Result<usize, KernelError> {
    let required = values.len();
    let codes = codes.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, quantize(width, values, scale, codes));
    Ok(required)
}

/// Dequantizes `codes`: `code * scale`. Returns the number of codes.
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if `out` is shorter than `codes`.
pub fn dequantize(backend: Backend, codes: &[i8], scale: f32, out: &mut [f32]) -> Result<usize, KernelError> {
    let required = codes.len();
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, dequantize(codes, scale, out));
    Ok(required)
}
