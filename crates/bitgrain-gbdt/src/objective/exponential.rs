//! Exponentials of scores, bounded so that products of them stay finite.

use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::exp;

/// Rows per block; its buffers fit in L1.
pub(super) const BLOCK: usize = 1024;
/// Upper bound of gradients and hessians: their sum over all rows stays finite even in f32.
const LIMIT: f32 = 1e28;

/// Computes `exp(factor * score)`, at most 1e28, for up to a block of scores.
pub(super) fn exp_scaled(scores: &[f32], factor: f32, out: &mut [f32; BLOCK]) {
    let mut scaled = [0.0; BLOCK];
    for (scaled, score) in scaled.iter_mut().zip(scores) {
        *scaled = score * factor;
    }
    let rows = scores.len().min(BLOCK);
    let done = exp(Backend::best(), &scaled[..rows], out);
    debug_assert!(done.is_ok(), "both slices have the same length");
    for value in &mut out[..rows] {
        *value = limited(*value);
    }
}

/// Clips a value to 1e28.
pub(super) fn limited(value: f32) -> f32 {
    if value > LIMIT { LIMIT } else { value }
}

/// Visits the rows in blocks: scores, targets, gradients and hessians of each.
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
