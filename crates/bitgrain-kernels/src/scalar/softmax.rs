//! Gradients of the softmax loss: the definition, which vector backends compile again for their own registers.

use super::exp::exp_normal;

/// Rows worked on at once: those of a few classes stay in the first cache.
const BLOCK: usize = 256;
/// How far below the largest score another counts: shares stay normal numbers, which are faster.
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

/// The loops, for a backend to compile. Every slice has as many rows as there are targets, or more.
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
                // Compared in every class rather than looked up once: looking up cannot be done in vectors.
                *grad = share - if target == class { 1.0 } else { 0.0 };
                *hess = factor * share * (1.0 - share);
            }
        }
    }
}
