//! Moments and a histogram of a tensor's values.

use serde::Serialize;

use crate::model::pieces::{self, Progress};
use crate::model::{ModelFileError, ModelTensor};

/// Number of histogram bins.
pub const HISTOGRAM_BINS: usize = 48;

/// Summary of a tensor's values. Non-finite values are counted and excluded from the other figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TensorStats {
    /// Number of values.
    pub count: u64,
    /// Smallest finite value, or 0 without any.
    pub min: f32,
    /// Largest finite value, or 0 without any.
    pub max: f32,
    /// Mean of the finite values.
    pub mean: f64,
    /// Population standard deviation of the finite values.
    pub std: f64,
    /// Number of values that are exactly zero.
    pub zeros: u64,
    /// Number of values that are NaN or infinite.
    pub non_finite: u64,
    /// Number of finite values in each of [`HISTOGRAM_BINS`] equal bins from `min` to `max`.
    pub histogram: Vec<u64>,
}

/// Partial sums of one piece.
#[derive(Clone, Copy)]
struct Sums {
    count: u64,
    min: f32,
    max: f32,
    sum: f64,
    zeros: u64,
    non_finite: u64,
}

impl Sums {
    const NONE: Self = Self { count: 0, min: f32::INFINITY, max: f32::NEG_INFINITY, sum: 0.0, zeros: 0, non_finite: 0 };

    fn of(values: &[f32]) -> Self {
        values.iter().fold(Self::NONE, |mut sums, &x| {
            sums.count += 1;
            if x.is_finite() {
                sums.min = sums.min.min(x);
                sums.max = sums.max.max(x);
                sums.sum += f64::from(x);
                sums.zeros += u64::from(x == 0.0);
            } else {
                sums.non_finite += 1;
            }
            sums
        })
    }

    fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            zeros: self.zeros + other.zeros,
            non_finite: self.non_finite + other.non_finite,
        }
    }
}

/// Computes statistics in two passes over the tensor: range and mean first, then deviation and histogram.
///
/// # Errors
/// Returns [`ModelFileError::Unreadable`] for formats that cannot be dequantized, and I/O errors.
pub fn stats(tensor: &ModelTensor, progress: &dyn Progress) -> Result<TensorStats, ModelFileError> {
    progress.tensor(&tensor.name);
    let rows = tensor.load()?;
    let runs = pieces::runs(&rows);
    let sums = pieces::map(&rows, &runs, |_, values, _| Ok(Sums::of(values)))?;
    let sums = sums.into_iter().fold(Sums::NONE, Sums::and);
    let (min, max) = if sums.min <= sums.max { (sums.min, sums.max) } else { (0.0, 0.0) };
    #[expect(clippy::cast_precision_loss, reason = "a count of values in memory")]
    let finite = ((sums.count - sums.non_finite).max(1)) as f64;
    // Rounding can push the mean of equal values outside their range, which would make the deviation nonzero.
    let mean = (sums.sum / finite).clamp(min.into(), max.into());
    let second = pieces::map(&rows, &runs, |_, values, _| Ok((histogram(values, min, max), squares(values, mean))))?;
    progress.add(tensor.bytes());
    let (mut all, mut deviations) = (vec![0; HISTOGRAM_BINS], 0.0);
    for (bars, here) in second {
        all.iter_mut().zip(bars).for_each(|(all, bar)| *all += bar);
        deviations += here;
    }
    Ok(TensorStats {
        count: sums.count,
        min,
        max,
        mean,
        std: (deviations / finite).sqrt(),
        zeros: sums.zeros,
        non_finite: sums.non_finite,
        histogram: all,
    })
}

/// Returns the sum of squared deviations from the mean. The textbook alternative, mean of squares minus square of the
/// mean, cancels catastrophically for values far from zero.
fn squares(values: &[f32], mean: f64) -> f64 {
    values.iter().filter(|x| x.is_finite()).map(|x| (f64::from(*x) - mean).powi(2)).sum()
}

/// Counts finite values in each of [`HISTOGRAM_BINS`] equal bins of a range; values outside it go to the first or last bin.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at the ends")]
pub fn histogram(values: &[f32], min: f32, max: f32) -> [u64; HISTOGRAM_BINS] {
    let mut bars = [0; HISTOGRAM_BINS];
    let width = (f64::from(max) - f64::from(min)) / HISTOGRAM_BINS as f64;
    let steps = if width > 0.0 { 1.0 / width } else { 0.0 };
    for x in values.iter().filter(|x| x.is_finite()) {
        let at = ((f64::from(*x) - f64::from(min)) * steps) as usize;
        bars[at.min(HISTOGRAM_BINS - 1)] += 1;
    }
    bars
}
