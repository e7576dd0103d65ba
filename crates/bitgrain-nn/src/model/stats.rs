//! Moments and a histogram of a tensor's values.

use serde::Serialize;

use crate::digits;
use crate::model::pieces::{self, Progress};
use crate::model::{ModelFileError, ModelTensor};

/// Bars of a histogram.
pub const BARS: usize = 48;

/// What a tensor's values are like. Those that are not finite are counted and left out of the rest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TensorStats {
    /// How many there are.
    pub count: u64,
    /// The least.
    pub min: f32,
    /// The greatest.
    pub max: f32,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
    /// How many are exactly zero.
    pub zeros: u64,
    /// How many are NaN or infinite.
    pub non_finite: u64,
    /// How many lie in each of [`BARS`] equal parts from `min` to `max`.
    pub histogram: Vec<u64>,
}

/// Sums of one piece.
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

/// Looks at every value of a tensor, twice: for its range and mean, then for the deviation from it and the histogram.
///
/// # Errors
/// [`ModelFileError::Unreadable`], and what reading brings.
pub fn stats(tensor: &ModelTensor, progress: &dyn Progress) -> Result<TensorStats, ModelFileError> {
    progress.tensor(&tensor.name);
    let rows = tensor.load()?;
    let runs = pieces::runs(&rows);
    let sums = pieces::map(&rows, &runs, |_, values, _| Ok(Sums::of(values)))?;
    let sums = sums.into_iter().fold(Sums::NONE, Sums::and);
    let (min, max) = if sums.min <= sums.max { (sums.min, sums.max) } else { (0.0, 0.0) };
    #[expect(clippy::cast_precision_loss, reason = "a count of numbers in memory")]
    let finite = ((sums.count - sums.non_finite).max(1)) as f64;
    // Rounding must not take it out of the range: values that are all the same deviate by nothing.
    let mean = (sums.sum / finite).clamp(min.into(), max.into());
    let second = pieces::map(&rows, &runs, |_, values, _| Ok((histogram(values, min, max), squares(values, mean))))?;
    progress.add(tensor.bytes());
    let (mut all, mut deviations) = (vec![0; BARS], 0.0);
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

/// The sum of the squared distances from the mean. The mean of the squares less the square of the mean would be the
/// same but for rounding: far from zero nothing is left of the difference.
fn squares(values: &[f32], mean: f64) -> f64 {
    values.iter().filter(|x| x.is_finite()).map(|x| (f64::from(*x) - mean).powi(2)).sum()
}

/// A value with four digits as [`digits()`] has it, or as many as it takes to see two of `spread`.
///
/// ```
/// use bitgrain_nn::model::stats::digits_within;
/// assert_eq!(digits_within(9999.96, 0.08), "9999.960");
/// assert_eq!(digits_within(0.25, 3.0), "0.2500");
/// ```
#[must_use]
pub fn digits_within(value: f64, spread: f64) -> String {
    /// Digits that an f64 has.
    const MOST: i32 = 17;
    let size = value.abs();
    let ratio = size / spread;
    if !size.is_finite() || !ratio.is_finite() || ratio <= 100.0 {
        return digits(value);
    }
    #[expect(clippy::cast_possible_truncation, reason = "logarithms of floats are small")]
    let [before, last] = [size, spread].map(|x| x.log10().floor() as i32);
    let behind = (before - last + 1).min(MOST - 1);
    let decimals = |count: i32| usize::try_from(count).unwrap_or(0);
    if (1e-3..1e6).contains(&size) {
        format!("{value:.*}", decimals(behind - before))
    } else {
        format!("{value:.*e}", decimals(behind))
    }
}

/// The two ends of a range, with as many digits as it takes to tell them apart.
#[must_use]
pub fn ends(min: f32, max: f32) -> (String, String) {
    let spread = f64::from(max) - f64::from(min);
    (digits_within(min.into(), spread), digits_within(max.into(), spread))
}

/// How many finite values lie in each of [`BARS`] equal parts of a range; those outside go to the ends.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at the ends")]
pub fn histogram(values: &[f32], min: f32, max: f32) -> [u64; BARS] {
    let mut bars = [0; BARS];
    let width = (f64::from(max) - f64::from(min)) / BARS as f64;
    let steps = if width > 0.0 { 1.0 / width } else { 0.0 };
    for x in values.iter().filter(|x| x.is_finite()) {
        let at = ((f64::from(*x) - f64::from(min)) * steps) as usize;
        bars[at.min(BARS - 1)] += 1;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_range_differ_unless_they_are_the_same() {
        let steps =
            [f32::MIN_POSITIVE, 1e-20, 0.001, 0.999, 1.0, 16.5, 10_000.0, 999_999.9, 1_677_721.6, 1e30, f32::MAX];
        for from in steps.into_iter().flat_map(|x| [x, -x]) {
            for to in [from.next_up(), from + from.abs() * 1e-4, from + from.abs() * 0.01, from + from.abs()] {
                let (low, high) = ends(from, to);
                assert!(low != high || !to.is_finite(), "{from:e} {to:e}: {low}");
                assert!(low.len() < 24 && high.len() < 24, "{low} {high}");
            }
        }
        assert_eq!(ends(0.5, 0.5), ("0.5000".into(), "0.5000".into()));
        assert_eq!(ends(-1.0, 2.0), ("-1.000".into(), "2.000".into()));
    }
}
