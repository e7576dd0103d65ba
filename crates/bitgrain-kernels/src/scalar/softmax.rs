//! Gradients of the softmax loss: the definition, which vector backends compile for their own registers.

use super::exp::exp_normal;

/// Rows processed at once: with a few classes they fit the L1 cache.
const BLOCK: usize = 256;
/// Lower limit of a score relative to the largest: keeps shares normal, because subnormals are slow.
const FARTHEST: f32 = -80.0;

pub(crate) fn softmax_gradients(
    scores: &[&[f32]],
    targets: &[f32],
    factor: f32,
    grads: &mut [&mut [f32]],
    hess: &mut [&mut [f32]],
) {
    softmax_gradients_each(scores, targets, factor, grads, hess);
}

/// Loops for a backend to compile. No slice has fewer rows than there are targets.
#[inline(always)]
pub(crate) fn softmax_gradients_each(
    scores: &[&[f32]],
    targets: &[f32],
    factor: f32,
    grads: &mut [&mut [f32]],
    hess: &mut [&mut [f32]],
) {
    for (block, targets) in targets.chunks(BLOCK).enumerate() {
        let rows = block * BLOCK..block * BLOCK + targets.len();
        let mut largest = [f32::MIN; BLOCK];
        for scores in scores {
            for (largest, &score) in largest.iter_mut().zip(&scores[rows.clone()]) {
                *largest = if score > *largest { score } else { *largest };
            }
        }
        let mut total = [0.0; BLOCK];
        for (scores, grads) in scores.iter().zip(&mut *grads) {
            let (scores, powers) = (&scores[rows.clone()], &mut grads[rows.clone()]);
            for (((power, total), score), largest) in powers.iter_mut().zip(&mut total).zip(scores).zip(&largest) {
                let below = score - largest;
                *power = exp_normal(if below < FARTHEST { FARTHEST } else { below });
                *total += *power;
            }
        }
        for total in &mut total {
            *total = 1.0 / *total;
        }
        for (class, (grads, hess)) in grads.iter_mut().zip(&mut *hess).take(scores.len()).enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "classes beyond 2^24 are not told apart by f32 targets")]
            let class = class as f32;
            let (grads, hess) = (&mut grads[rows.clone()], &mut hess[rows.clone()]);
            for (((grad, hess), inverse), &target) in grads.iter_mut().zip(hess).zip(&total).zip(targets) {
                let share = *grad * inverse;
                // Compared in every class instead of looked up once, because a lookup cannot be vectorized.
                *grad = share - if target == class { 1.0 } else { 0.0 };
                *hess = factor * share * (1.0 - share);
            }
        }
    }
}
