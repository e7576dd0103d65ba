//! Half-quadratic refinement of a grid: alternates between the errors a sparse prior explains and the scale that fits
//! what is left.

use super::dtype::{DType, Kind};
use super::grid::{CHUNK, Grid};
use crate::CodecErr;

/// Strength of the coupling at the start, its growth, and the rounds, as the method's authors chose them.
const BETA: f32 = 10.0;
const GROWTH: f32 = 1.01;
const ROUNDS: usize = 20;
/// Rounds without a better grid after which there will be none.
const PATIENCE: usize = 3;

/// `|error|^0.75`: an exponent below 1 tolerates a few large errors for many small ones. The authors take 0.7, which
/// is no better and needs a power where two square roots do.
fn power(magnitude: f32) -> f32 {
    let root = libm::sqrtf(magnitude);
    root * libm::sqrtf(root)
}

/// The best grid by the sum of `|error|^0.75` found in [`ROUNDS`] rounds from `start`.
pub(crate) fn refine(dtype: DType, start: Grid, values: &[f32]) -> Result<Grid, CodecErr> {
    let (mut grid, mut beta) = (start, BETA);
    let (mut best, mut idle) = ((start, f64::INFINITY), 0);
    for _ in 0..=ROUNDS {
        let round = Round::of(dtype, grid, beta, values)?;
        if round.loss < best.1 {
            (best, idle) = ((grid, round.loss), 0);
        } else {
            idle += 1;
        }
        if idle == PATIENCE {
            break;
        }
        grid = round.next(dtype, grid);
        beta *= GROWTH;
        if grid.scale == 0.0 || !grid.scale.is_finite() {
            break;
        }
    }
    Ok(best.0)
}

/// Sums over one pass, in units of the scale.
#[derive(Default)]
struct Round {
    loss: f64,
    count: f64,
    code: f64,
    value: f64,
    code_by_code: f64,
    code_by_value: f64,
}

impl Round {
    fn of(dtype: DType, grid: Grid, beta: f32, values: &[f32]) -> Result<Self, CodecErr> {
        let mut sums = Self::default();
        let mut back = [0.0; CHUNK];
        for values in values.chunks(CHUNK) {
            let back = &mut back[..values.len()];
            grid.round_trip(dtype, values, back)?;
            for (&x, &y) in values.iter().zip(&*back) {
                let error = (x - y) / grid.scale;
                let magnitude = error.abs();
                // The shrinkage, |error|^(0.75 - 1), follows by a division.
                let power = power(magnitude);
                let kept = if magnitude > 0.0 { (magnitude - power / magnitude / beta).max(0.0) } else { 0.0 };
                let (code, value) = (f64::from(y / grid.scale), f64::from(x / grid.scale - kept.copysign(error)));
                sums.loss += f64::from(power);
                sums.count += 1.0;
                sums.code += code;
                sums.value += value;
                sums.code_by_code += code * code;
                sums.code_by_value += code * value;
            }
        }
        // Losses of different scales are compared in the unit of the weights.
        sums.loss *= f64::from(power(grid.scale.abs()));
        Ok(sums)
    }

    /// The grid that fits the weights without the errors that were explained.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "near the grid it refines")]
    fn next(&self, dtype: DType, grid: Grid) -> Grid {
        let factor = self.code_by_value / self.code_by_code;
        let scale = if factor > 0.0 { (f64::from(grid.scale) * factor) as f32 } else { 0.0 };
        let Kind::Affine { max } = dtype.kind() else { return Grid { scale, ..grid } };
        // A zero point moves by the mean offset between codes and weights.
        let offset = libm::rint((self.code - self.value) / self.count);
        #[expect(clippy::cast_precision_loss, reason = "a zero point of at most 255")]
        let zero = (grid.zero as f64 + offset).clamp(0.0, f64::from(max)) as u64;
        Grid { scale, zero }
    }
}
