//! Exponentials of scores that stay finite whatever they are multiplied with.

use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::exp;

/// Rows worked on at once: buffers of them stay in the first cache.
pub(super) const BLOCK: usize = 1024;
/// Gradients and hessians are at most this. Sums of them over all rows are finite, in f32 too.
const LIMIT: f32 = 1e28;

/// `exp(factor * score)` of up to a block of scores, at most 1e28.
pub(super) fn exp_scaled(scores: &[f32], factor: f32, out: &mut [f32; BLOCK]) {
    let mut scaled = [0.0; BLOCK];
    for (scaled, score) in scaled.iter_mut().zip(scores) {
        *scaled = score * factor;
    }
    let rows = scores.len().min(BLOCK);
    let done = exp(Backend::best(), &scaled[..rows], out);
    debug_assert!(done.is_ok(), "both are blocks");
    for value in &mut out[..rows] {
        *value = limited(*value);
    }
}

/// At most 1e28.
pub(super) fn limited(value: f32) -> f32 {
    if value > LIMIT { LIMIT } else { value }
}

/// Walks rows block by block: scores, targets, gradients and hessians of each.
pub(super) fn for_blocks(
    scores: &[f32],
    targets: &[f32],
    (grads, hess): (&mut [f32], &mut [f32]),
    mut work: impl FnMut(&[f32], &[f32], &mut [f32], &mut [f32]),
) {
    let inputs = scores.chunks(BLOCK).zip(targets.chunks(BLOCK));
    let outputs = grads.chunks_mut(BLOCK).zip(hess.chunks_mut(BLOCK));
    for ((scores, targets), (grads, hess)) in inputs.zip(outputs) {
        work(scores, targets, grads, hess);
    }
}
