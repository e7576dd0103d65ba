//! Half-quadratic refinement of a grid: alternates between the errors explained by a sparse prior and the scale that
//! fits the remainder.

use super::dtype::{DType, Kind};
use super::grid::{CHUNK, Grid};
use crate::CodecErr;

/// Initial coupling strength, its growth per round and the number of rounds, as chosen by the authors of HQQ.
const BETA: f32 = 10.0;
const GROWTH: f32 = 1.01;
const ROUNDS: usize = 20;
/// Number of rounds without a better grid after which the search stops.
const PATIENCE: usize = 3;

/// Returns `|error|^0.75`: an exponent below 1 tolerates a few large errors in exchange for many small ones. The
/// authors use 0.7, which is not better and needs `pow`; 0.75 needs two square roots.
fn power(magnitude: f32) -> f32 {
    let root = libm::sqrtf(magnitude);
    root * libm::sqrtf(root)
}

/// Finds the grid with the least sum of `|error|^0.75` in [`ROUNDS`] rounds from `start`.
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

/// Sums of one pass, in units of the scale.
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
                // One more division gives the shrinkage |error|^(0.75 - 1), so the power is computed once.
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
        // Convert to the unit of the weights, so that losses at different scales are comparable.
        sums.loss *= f64::from(power(grid.scale.abs()));
        Ok(sums)
    }

    /// Returns the grid that fits the weights after the explained errors are subtracted.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "near the grid it refines")]
    fn next(&self, dtype: DType, grid: Grid) -> Grid {
        let factor = self.code_by_value / self.code_by_code;
        let scale = if factor > 0.0 { (f64::from(grid.scale) * factor) as f32 } else { 0.0 };
        let Kind::Affine { max } = dtype.kind() else { return Grid { scale, ..grid } };
        // The zero point moves by the mean offset between codes and weights.
        let offset = libm::rint((self.code - self.value) / self.count);
        #[expect(clippy::cast_precision_loss, reason = "a zero point of at most 255")]
        let zero = (grid.zero as f64 + offset).clamp(0.0, f64::from(max)) as u64;
        Grid { scale, zero }
    }
}
