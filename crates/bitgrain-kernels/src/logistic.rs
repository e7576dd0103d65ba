//! Gradients of the logistic loss.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Computes gradients and hessians of the logistic loss at `scores`: `p - target` and `p * (1 - p)`, where `p` is the
/// sigmoid of the score. Targets above 0.5 count as 1, all others as 0. Returns the number of scores.
///
/// Both keep their precision where `p` is close to its target, which a subtraction from 1 would lose: a row that fits
/// perfectly has a small gradient, not 0. Scores beyond ±87 are clamped. A score of NaN gives NaN.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::gradients::logistic_gradients;
/// let (mut grads, mut hess) = ([0.0; 3], [0.0; 3]);
/// logistic_gradients(Backend::best(), &[0.0, 0.0, 50.0], &[1.0, 0.0, 1.0], &mut grads, &mut hess)?;
/// assert_eq!((grads[0], hess[0]), (-0.5, 0.25));
/// assert_eq!((grads[1], hess[1]), (0.5, 0.25));
/// assert!(grads[2] < 0.0 && hess[2] > 0.0); // about exp(-50) each
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if there are fewer targets than scores, or [`KernelError::OutputTooSmall`] if
/// an output is shorter than the scores.
pub fn logistic_gradients(
    backend: Backend,
    scores: &[f32],
    targets: &[f32],
    grads: &mut [f32],
    hess: &mut [f32],
) -> Result<usize, KernelError> {
    let required = scores.len();
    let targets = targets.get(..required).ok_or(KernelError::InputTooSmall { required })?;
    let grads = grads.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    let hess = hess.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, logistic_gradients(scores, targets, grads, hess));
    Ok(required)
}
