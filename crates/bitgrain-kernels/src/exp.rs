//! Element-wise exponential functions.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Computes `e` to the power of each value, within 1.1 units in the last place. Returns the number of values.
///
/// Above 88.72 the result is infinite, below -103.97 it is 0, and in between it may be subnormal. NaN gives NaN.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::floats::exp;
/// let mut out = [0.0; 3];
/// exp(Backend::best(), &[0.0, 1.0, -1000.0], &mut out)?;
/// assert_eq!(out, [1.0, core::f32::consts::E, 0.0]);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if `out` is shorter than `values`.
pub fn exp(backend: Backend, values: &[f32], out: &mut [f32]) -> Result<usize, KernelError> {
    let required = values.len();
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, exp(values, out));
    Ok(required)
}

/// Computes `1 / (1 + exp(-value))` of each value, within 2.5 units in the last place. Returns the number of values.
///
/// Never 0 and never subnormal: values below -87 are treated as -87 and give `1.6e-38`. NaN gives NaN.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::floats::sigmoid;
/// let mut out = [0.0; 3];
/// sigmoid(Backend::best(), &[0.0, 1000.0, -1000.0], &mut out)?;
/// assert_eq!(out[..2], [0.5, 1.0]);
/// assert!(out[2] > 0.0);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::OutputTooSmall`] if `out` is shorter than `values`.
pub fn sigmoid(backend: Backend, values: &[f32], out: &mut [f32]) -> Result<usize, KernelError> {
    let required = values.len();
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, sigmoid(values, out));
    Ok(required)
}
