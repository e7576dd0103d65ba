//! Calibration: finds the grid of a group of weights.

use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use bitgrain_kernels::blocks::block_scale;
use bitgrain_kernels::{Backend, BitWidth, max_abs};

use super::dtype::{DType, Kind};
use super::grid::{CHUNK, Grid};
use super::half_quadratic;
use crate::CodecErr;

/// Method that finds a scale. Ternary and binary weights always use the scale with the least squared error, and dtypes
/// of at least 16 bits the largest magnitude, because other methods gain nothing there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Calibration {
    /// The largest magnitude: no weight is clamped, and every error is at most half a step.
    #[default]
    AbsMax,
    /// The magnitude that this percentage of the weights does not exceed, above 0 and at most 100; larger weights are
    /// clamped. In groups of 64, 99 % already includes every weight.
    Percentile(f32),
    /// The scale with the least squared error among fractions of the largest magnitude, then refitted to its codes.
    MeanSquaredError,
    /// Half-quadratic refinement (HQQ, Badri and Shaji 2023): minimizes the sum of `|error|^0.75`, which favors many
    /// exact weights over a few large errors. Needs no calibration data.
    HalfQuadratic,
}

impl Calibration {
    /// Default percentile.
    pub const DEFAULT_PERCENTILE: f32 = 99.9;

    /// Rejects a percentile outside its range.
    pub(crate) fn checked(self) -> Result<Self, CodecErr> {
        match self {
            Self::Percentile(percent) if !(percent > 0.0 && percent <= 100.0) => {
                Err(CodecErr::InvalidPercentile { percent })
            }
            _ => Ok(self),
        }
    }
}

impl fmt::Display for Calibration {
    /// Writes `absmax`, `percentile=99.9`, `mse` or `hqq`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AbsMax => f.pad("absmax"),
            Self::Percentile(percent) => write!(f, "percentile={percent}"),
            Self::MeanSquaredError => f.pad("mse"),
            Self::HalfQuadratic => f.pad("hqq"),
        }
    }
}

impl FromStr for Calibration {
    type Err = CodecErr;

    /// Parses the output of [`Display`](fmt::Display), or `percentile` for the default percentile.
    fn from_str(name: &str) -> Result<Self, CodecErr> {
        match (name, name.strip_prefix("percentile=")) {
            ("absmax", _) => Ok(Self::AbsMax),
            ("mse", _) => Ok(Self::MeanSquaredError),
            ("hqq", _) => Ok(Self::HalfQuadratic),
            ("percentile", _) => Ok(Self::Percentile(Self::DEFAULT_PERCENTILE)),
            (_, Some(percent)) => {
                Self::Percentile(percent.parse().map_err(|_| CodecErr::UnknownCalibration)?).checked()
            }
            _ => Err(CodecErr::UnknownCalibration),
        }
    }
}

/// Finds the grid of one group of finite weights. `importance` weights the squared errors, one number per weight.
pub(crate) fn calibrate(
    dtype: DType,
    method: Calibration,
    values: &[f32],
    importance: Option<&[f32]>,
    scratch: &mut Vec<f32>,
) -> Result<Grid, CodecErr> {
    if dtype.is_plain() {
        return Ok(Grid::UNIT);
    }
    match dtype {
        DType::Binary => return Ok(Grid { scale: mean_magnitude(values, importance), zero: 0 }),
        DType::Ternary => return Ok(Grid { scale: ternary_scale(values, importance, scratch), zero: 0 }),
        _ => {}
    }
    let limit = match method {
        Calibration::Percentile(percent) => Some(percentile(values, percent, scratch)),
        _ => None,
    };
    let start = spanning(dtype, values, limit);
    if dtype.bits() > 8 || start.scale == 0.0 {
        return Ok(start);
    }
    match method {
        Calibration::AbsMax | Calibration::Percentile(_) => Ok(start),
        Calibration::MeanSquaredError => least_squares(dtype, start, values, importance),
        Calibration::HalfQuadratic => half_quadratic::refine(dtype, start, values),
    }
}

/// Returns the grid that spans the largest weights, or `limit` if that is smaller.
fn spanning(dtype: DType, values: &[f32], limit: Option<f32>) -> Grid {
    let limit = limit.unwrap_or(f32::INFINITY);
    if dtype.is_affine() {
        let (lo, hi) = values.iter().fold((0.0_f32, 0.0_f32), |(lo, hi), &x| (lo.min(x), hi.max(x)));
        return of_range(dtype, lo.max(-limit), hi.min(limit));
    }
    let largest = max_abs(Backend::best(), values).min(limit);
    of_range(dtype, -largest, largest)
}

/// Returns the grid of weights from `lo` to `hi`. Unsigned grids always contain 0, so that zero weights stay exact.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at the dtype's ends")]
pub(crate) fn of_range(dtype: DType, lo: f32, hi: f32) -> Grid {
    let largest = lo.abs().max(hi.abs());
    let scale = match dtype.kind() {
        Kind::Signed { hi: 127, .. } => block_scale(BitWidth::W8, largest),
        Kind::Signed { hi: 7, .. } => block_scale(BitWidth::W4, largest),
        Kind::Signed { .. } => largest,
        Kind::Mini { max } => finite_scale(f64::from(largest), f64::from(max)),
        Kind::Wide => wide_scale(f64::from(largest), half_range(dtype)),
        Kind::Affine { .. } | Kind::WideAffine => {
            let (lo, hi) = (f64::from(lo.min(0.0)), f64::from(hi.max(0.0)));
            let max = u64::MAX >> (64 - dtype.bits());
            let scale_of = if dtype.bits() > 8 { wide_scale } else { finite_scale };
            let scale = scale_of(hi - lo, unsigned_range(dtype));
            let zero = if scale == 0.0 { 0 } else { (libm::rint(-lo / f64::from(scale)) as u64).min(max) };
            return Grid { scale, zero };
        }
        Kind::Float | Kind::Sign => 1.0,
    };
    Grid { scale, zero: 0 }
}

#[expect(clippy::cast_precision_loss, reason = "the range of a wide integer, to f64's precision")]
fn half_range(dtype: DType) -> f64 {
    (i64::MAX >> (64 - dtype.bits())) as f64
}

#[expect(clippy::cast_precision_loss, reason = "the range of a wide integer, to f64's precision")]
fn unsigned_range(dtype: DType) -> f64 {
    (u64::MAX >> (64 - dtype.bits())) as f64
}

/// Rounds up: with this many codes the rounding of the scale dominates the error, and rounding down would clamp.
fn wide_scale(span: f64, steps: f64) -> f32 {
    let scale = finite_scale(span, steps);
    if f64::from(scale) * steps < span { scale.next_up().min(f32::MAX) } else { scale }
}

#[expect(clippy::cast_possible_truncation, reason = "a quotient of f32 values and a range of at least 1")]
fn finite_scale(span: f64, steps: f64) -> f32 {
    ((span / steps) as f32).min(f32::MAX)
}

/// Searches the scale with the least squared error: fractions of `start` in sixteenths, then in 64ths around the best
/// one, then refitted to its codes. For an asymmetric code range, both signs of the scale are tried.
fn least_squares(dtype: DType, start: Grid, values: &[f32], importance: Option<&[f32]>) -> Result<Grid, CodecErr> {
    let asymmetric = matches!(dtype.kind(), Kind::Signed { lo, hi } if lo != -hi);
    let mut best = (64_i8, squared_error(dtype, start, values, importance)?);
    let at = |fraction: i8| Grid { scale: start.scale * (f32::from(fraction) / 64.0), ..start };
    let attempt = |fraction: i8, best: &mut (i8, Fit)| -> Result<(), CodecErr> {
        let fit = squared_error(dtype, at(fraction), values, importance)?;
        if fit.error < best.1.error {
            *best = (fraction, fit);
        }
        Ok(())
    };
    for fraction in (4..=60).rev().step_by(4) {
        attempt(fraction, &mut best)?;
    }
    for fraction in (4..=64).rev().step_by(4).filter(|_| asymmetric) {
        attempt(-fraction, &mut best)?;
    }
    let center = best.0;
    for near in [-3, -2, -1, 1, 2, 3] {
        attempt(center + near, &mut best)?;
    }
    let (grid, fit) = (at(best.0), best.1);
    let refitted = Grid { scale: fit.refitted(grid.scale), ..grid };
    let error = squared_error(dtype, refitted, values, importance)?.error;
    Ok(if error < fit.error { refitted } else { grid })
}

/// Error of a grid, and the sums that yield the least-squares scale of its codes.
struct Fit {
    error: f64,
    value_by_code: f64,
    code_by_code: f64,
}

impl Fit {
    /// Returns the least-squares scale of the codes that `scale` gave.
    #[expect(clippy::cast_possible_truncation, reason = "near the f32 it refits")]
    fn refitted(&self, scale: f32) -> f32 {
        let factor = self.value_by_code / self.code_by_code;
        let scale = (f64::from(scale) * factor) as f32;
        if factor > 0.0 && scale.is_finite() { scale } else { 0.0 }
    }
}

fn squared_error(dtype: DType, grid: Grid, values: &[f32], importance: Option<&[f32]>) -> Result<Fit, CodecErr> {
    let mut fit = Fit { error: 0.0, value_by_code: 0.0, code_by_code: 0.0 };
    let mut back = [0.0; CHUNK];
    for (i, values) in values.chunks(CHUNK).enumerate() {
        let back = &mut back[..values.len()];
        grid.round_trip(dtype, values, back)?;
        // Eight partial sums break the dependency chain of a single accumulator, so that additions overlap.
        let mut sums = [[0.0_f64; 8]; 3];
        for (at, (x, y)) in values.iter().zip(&*back).enumerate() {
            let weight = importance.map_or(1.0, |all| f64::from(all[i * CHUNK + at]));
            let (x, y) = (f64::from(*x), f64::from(*y));
            sums[0][at % 8] += weight * (x - y) * (x - y);
            sums[1][at % 8] += weight * x * y;
            sums[2][at % 8] += weight * y * y;
        }
        fit.error += sums[0].iter().sum::<f64>();
        fit.value_by_code += sums[1].iter().sum::<f64>();
        fit.code_by_code += sums[2].iter().sum::<f64>();
    }
    Ok(fit)
}

/// Returns the magnitude that `percent` of the weights do not exceed.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "an index")]
fn percentile(values: &[f32], percent: f32, scratch: &mut Vec<f32>) -> f32 {
    scratch.clear();
    scratch.extend(values.iter().map(|x| x.abs()));
    let Some(last) = scratch.len().checked_sub(1) else { return 0.0 };
    let at = libm::ceil(f64::from(percent) / 100.0 * scratch.len() as f64) as usize;
    *scratch.select_nth_unstable_by(at.saturating_sub(1).min(last), f32::total_cmp).1
}

/// Returns the scale of binary weights with the least squared error.
#[expect(clippy::cast_possible_truncation, reason = "a mean of f32 values")]
fn mean_magnitude(values: &[f32], importance: Option<&[f32]>) -> f32 {
    let weight = |i: usize| importance.map_or(1.0, |all| f64::from(all[i]));
    let sums = values
        .iter()
        .enumerate()
        .fold((0.0, 0.0), |(sum, weights), (i, x)| (sum + weight(i) * f64::from(x.abs()), weights + weight(i)));
    if sums.1 > 0.0 { (sums.0 / sums.1) as f32 } else { 0.0 }
}

/// Returns the scale of ternary weights with the least squared error: with the `k` largest magnitudes mapped to ±scale,
/// the error falls by `(sum of them)^2 / k`, so the best `k` maximizes this term.
fn ternary_scale(values: &[f32], importance: Option<&[f32]>, scratch: &mut Vec<f32>) -> f32 {
    if importance.is_some() {
        // With importances the best set need not be the largest magnitudes; use the search instead.
        let start = Grid { scale: max_abs(Backend::best(), values), zero: 0 };
        return least_squares(DType::Ternary, start, values, importance).map_or(start.scale, |grid| grid.scale);
    }
    scratch.clear();
    scratch.extend(values.iter().map(|x| x.abs()));
    scratch.sort_unstable_by(|a, b| b.total_cmp(a));
    let (mut sum, mut count, mut best, mut scale) = (0.0_f64, 0.0_f64, 0.0, 0.0);
    for &magnitude in &*scratch {
        sum += f64::from(magnitude);
        count += 1.0;
        if sum * sum / count > best {
            (best, scale) = (sum * sum / count, sum / count);
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "a mean of f32 values")]
    let scale = scale as f32;
    scale
}
