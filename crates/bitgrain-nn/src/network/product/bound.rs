//! Error bounds of products.

use bitgrain_kernels::product::STRIP_BLOCK;

use super::{PackedMatrix, WeightsError};

/// Half a quantization step of the activations, plus the roundings before it: computing the code, at most 127, takes
/// three operations that are each off by half a unit in the last place.
const HALF_STEP: f64 = 0.5 + 127.0 * 3.0 / 16_777_216.0;

/// Largest magnitude of a block below which its activations are quantized to 0.
const TINY: f32 = 7.6e-37;

/// Bounds products with activations rounded to 8 bits: half a step per activation, times the weight it meets.
pub(super) fn of_codes(matrix: &PackedMatrix, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
    let blocks = matrix.shape().1.div_ceil(STRIP_BLOCK);
    each(matrix, x, out, |x, weights, terms| {
        let (mut off, mut magnitude) = (0.0, 0.0);
        let sum = |values: &[f32]| -> f64 { values.iter().map(|value| f64::from(value.abs())).sum() };
        let blocks_of = |values| <[f32]>::chunks(values, STRIP_BLOCK);
        for ((x, weights), terms) in blocks_of(x).zip(blocks_of(weights)).zip(blocks_of(terms)) {
            let largest = x.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            let step = f64::from(largest) / 127.0;
            off += sum(weights) * if largest < TINY { f64::from(largest) } else { HALF_STEP * step };
            magnitude += sum(terms) * f64::from(largest);
        }
        // Up to two scales and two minima per block.
        off + rounding(4 * blocks + 8, magnitude)
    })
}

/// Bounds products in f32.
pub(super) fn of_floats(matrix: &PackedMatrix, x: &[f32], out: &mut [f32]) -> Result<(), WeightsError> {
    let cols = matrix.shape().1;
    each(matrix, x, out, |x, weights, _| {
        rounding(cols, x.iter().zip(weights).map(|(&x, &w)| (f64::from(x) * f64::from(w)).abs()).sum())
    })
}

/// Calls `bound` for each pair of a row of activations and a row of weights, with the magnitudes of the weights' terms.
#[expect(clippy::cast_possible_truncation, reason = "bounds have room to spare")]
fn each(
    matrix: &PackedMatrix,
    x: &[f32],
    out: &mut [f32],
    bound: impl Fn(&[f32], &[f32], &[f32]) -> f64,
) -> Result<(), WeightsError> {
    let (rows, cols) = matrix.shape();
    let (mut weights, mut terms) = (vec![0.0; cols], vec![0.0; cols]);
    for row in 0..rows {
        matrix.terms_into(row, &mut weights, &mut terms)?;
        for (batch, out) in out.chunks_exact_mut(rows).enumerate() {
            out[row] = bound(&x[batch * cols..][..cols], &weights, &terms) as f32;
        }
    }
    Ok(())
}

/// Bounds the error of `steps` rounded operations on sums of at most `magnitude`, plus underflow to the smallest
/// subnormal. The factor of 1.01 covers the higher-order terms.
#[expect(clippy::cast_precision_loss, reason = "a bound with room to spare")]
fn rounding(steps: usize, magnitude: f64) -> f64 {
    let steps = (steps + 2) as f64;
    steps * (1.01 * f64::from(f32::EPSILON) / 2.0 * magnitude + f64::from(f32::MIN_POSITIVE) * f64::from(f32::EPSILON))
}
