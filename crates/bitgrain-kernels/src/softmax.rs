//! Gradients of the softmax loss.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Computes gradients and hessians of the softmax loss, class by class: `share - 1` for the target class and `share`
/// for the others, and `factor * share * (1 - share)`, where the share of a class is its softmax probability. Returns
/// the number of rows, which is the number of targets.
///
/// Targets outside the range of classes match no class. Scores at least 80 below the largest count as 80 below it, so
/// that no share is 0. Scores must be finite.
///
/// ```
/// use bitgrain_kernels::Backend;
/// use bitgrain_kernels::gradients::softmax_gradients;
/// let (mut grads, mut hess) = ([[0.0; 1]; 2], [[0.0; 1]; 2]);
/// let [grads_0, grads_1] = &mut grads;
/// let [hess_0, hess_1] = &mut hess;
/// let scores: [&[f32]; 2] = [&[0.0], &[0.0]];
/// softmax_gradients(Backend::best(), &scores, &[1.0], 2.0, &mut [grads_0, grads_1], &mut [hess_0, hess_1])?;
/// assert_eq!(grads, [[0.5], [-0.5]]); // the target is class 1
/// assert_eq!(hess, [[0.5], [0.5]]);
/// # Ok::<(), bitgrain_kernels::KernelError>(())
/// ```
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a class has fewer scores than there are targets, or
/// [`KernelError::OutputTooSmall`] if an output has too few classes or rows.
pub fn softmax_gradients(
    backend: Backend,
    scores: &[&[f32]],
    targets: &[f32],
    factor: f32,
    grads: &mut [&mut [f32]],
    hess: &mut [&mut [f32]],
) -> Result<usize, KernelError> {
    let required = targets.len();
    if scores.iter().any(|scores| scores.len() < required) {
        return Err(KernelError::InputTooSmall { required });
    }
    for out in [&*grads, &*hess] {
        if out.len() < scores.len() {
            return Err(KernelError::OutputTooSmall { required: scores.len() });
        }
        if out.iter().take(scores.len()).any(|out| out.len() < required) {
            return Err(KernelError::OutputTooSmall { required });
        }
    }
    on!(backend, softmax_gradients(scores, targets, factor, grads, hess));
    Ok(required)
}
