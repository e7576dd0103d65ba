//! Gradients of the softmax loss.

use crate::backend::on;
use crate::{Backend, KernelError};

/// Gradients and hessians of the softmax loss, class after class: `share - 1` for the class that is the target and
/// `share` for the others, and `factor * share * (1 - share)`, where the share of a class is the exponential of its score
/// over the sum of all classes' exponentials. Returns the number of rows, which is that of the targets.
///
/// Targets that are no class's number belong to none. A score that is 80 or more below the largest counts as 80 below,
/// so no share is 0. Scores must be finite.
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
/// [`KernelError::InputTooSmall`] if a class has fewer scores than there are targets, [`KernelError::OutputTooSmall`] if
/// there is room for fewer classes or fewer rows.
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
