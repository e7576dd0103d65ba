//! `Softmax` along the last dimension.

use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::exp;

use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Computes `e^x` divided by its sum along the last dimension.
#[derive(Debug)]
pub(super) struct Softmax;

impl Step for Softmax {
    fn forward(&self, mut x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        let len = x.last();
        x.values_mut().chunks_exact_mut(len).for_each(softmax);
        if run.is_training() {
            run.save(x.clone());
        }
        Ok(x)
    }

    fn backward(&self, mut dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let y = back.saved();
        let len = y.last();
        for (dy, y) in dy.values_mut().chunks_exact_mut(len).zip(y.values().chunks_exact(len)) {
            softmax_backward(y, dy);
        }
        dy
    }
}

/// Computes the softmax in place. Minus infinity maps to 0, and so does a row of minus infinities only: a position that
/// may attend to no other.
pub(crate) fn softmax(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if largest == f32::NEG_INFINITY {
        row.fill(0.0);
        return;
    }
    let (mut sum, mut below) = (0.0, [0.0; 64]);
    for chunk in row.chunks_mut(below.len()) {
        let below = &mut below[..chunk.len()];
        below.iter_mut().zip(&*chunk).for_each(|(below, x)| *below = x - largest);
        exp(Backend::best(), below, chunk).expect("equal lengths");
        sum += chunk.iter().sum::<f32>();
    }
    let factor = 1.0 / sum;
    row.iter_mut().for_each(|x| *x *= factor);
}

/// Maps gradients of the softmax to gradients of its inputs.
pub(crate) fn softmax_backward(probabilities: &[f32], gradients: &mut [f32]) {
    let mean: f32 = probabilities.iter().zip(&*gradients).map(|(p, gradient)| p * gradient).sum();
    gradients.iter_mut().zip(probabilities).for_each(|(gradient, p)| *gradient = p * (*gradient - mean));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn softmax_does_not_overflow() {
        let mut row = [1000.0, 1000.0, f32::NEG_INFINITY];
        softmax(&mut row);
        assert_eq!(row, [0.5, 0.5, 0.0]);
        let mut nothing = [f32::NEG_INFINITY; 2];
        softmax(&mut nothing);
        assert_eq!(nothing, [0.0, 0.0]);
    }
}
