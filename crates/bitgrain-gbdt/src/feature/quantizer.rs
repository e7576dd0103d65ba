//! Finds the cuts of every feature, the same for a seed whatever the number of threads.

use rayon::prelude::*;

use super::distinct::Distinct;
use super::quantile::{Weighted, cuts, midpoint};
use super::sample::Sample;
use super::{BinCuts, FeatureError, Features};

/// How cuts are found.
///
/// A feature of at most as many distinct values as it may have bins gets a bin for each, so that no rare value is lost,
/// however many rows there are. Others are cut into bins of about equal weight: exactly so up to a number of rows,
/// from a seeded sample of that many beyond.
///
/// ```
/// use bitgrain_gbdt::feature::{Features, Quantizer};
/// let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
/// let features = Features::column_major(&values[..], 100, 1)?;
/// let cuts = Quantizer::default().with_max_bin(4)?.compute_cuts(&features, None)?;
/// assert_eq!(cuts.cuts(0), [24.5, 49.5, 74.5]); // 25 values in each bin
/// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantizer {
    max_bin: u32,
    sample_rows: usize,
    seed: u64,
}

impl Default for Quantizer {
    /// 256 bins, which fit a byte; a sample of 200,000 rows; seed 0.
    fn default() -> Self {
        Self { max_bin: 256, sample_rows: 200_000, seed: 0 }
    }
}

impl Quantizer {
    /// The most bins a feature can be given: an f32 has no more significant digits.
    pub const MAX_BIN: u32 = 1 << 24;

    /// At most this many bins per feature, the one for missing values included if the feature misses any.
    ///
    /// # Errors
    /// [`FeatureError::InvalidMaxBin`] unless it is from 2 to [`Quantizer::MAX_BIN`].
    pub fn with_max_bin(self, max_bin: u32) -> Result<Self, FeatureError> {
        match max_bin {
            2..=Self::MAX_BIN => Ok(Self { max_bin, ..self }),
            _ => Err(FeatureError::InvalidMaxBin { max_bin }),
        }
    }

    /// Quantiles are taken from this many rows if there are more.
    ///
    /// # Errors
    /// [`FeatureError::EmptySample`] for 0.
    pub fn with_sample_rows(self, sample_rows: usize) -> Result<Self, FeatureError> {
        if sample_rows == 0 { Err(FeatureError::EmptySample) } else { Ok(Self { sample_rows, ..self }) }
    }

    /// Chooses the rows of the sample.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The cuts of every feature. A row counts as its weight says, or as 1; the values of a row of weight 0 do not
    /// count at all, but a feature that misses one there has a bin for missing values.
    ///
    /// # Errors
    /// [`FeatureError::WeightCount`], [`FeatureError::InvalidWeight`], [`FeatureError::NoWeight`], or
    /// [`FeatureError::TooManyBins`] of all features together.
    pub fn compute_cuts(&self, features: &Features<'_>, weights: Option<&[f32]>) -> Result<BinCuts, FeatureError> {
        if let Some(weights) = weights {
            check_weights(weights, features.n_rows())?;
        }
        let missing = features.missing();
        let of_feature = |feature: usize| self.cuts_of(features, feature, missing[feature], weights);
        let cuts: Vec<Vec<f32>> = (0..features.n_features()).into_par_iter().map(of_feature).collect();
        BinCuts::new(&cuts, missing)
    }

    fn cuts_of(&self, features: &Features<'_>, feature: usize, missing: bool, weights: Option<&[f32]>) -> Vec<f32> {
        let bins = (self.max_bin - u32::from(missing)) as usize;
        if let Some(distinct) = distinct_values(features, feature, weights, bins) {
            return distinct.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect();
        }
        let sample = Sample::new(features.n_rows(), self.sample_rows, self.seed);
        let rows = sample.rows().map(|row| (features.value(row, feature), weights.map_or(1.0, |weights| weights[row])));
        cuts(&sorted(rows), bins)
    }
}

fn check_weights(weights: &[f32], rows: usize) -> Result<(), FeatureError> {
    if weights.len() != rows {
        return Err(FeatureError::WeightCount { weights: weights.len(), rows });
    }
    if let Some(row) = weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
        return Err(FeatureError::InvalidWeight { row, weight: weights[row] });
    }
    if weights.iter().all(|weight| *weight == 0.0) { Err(FeatureError::NoWeight) } else { Ok(()) }
}

/// All values of a feature, ascending, unless there are more than `limit`. Looks at every row, not at a sample; a
/// feature of many values is given up after few.
fn distinct_values(features: &Features<'_>, feature: usize, weights: Option<&[f32]>, limit: usize) -> Option<Vec<f32>> {
    let mut distinct = Distinct::new(limit);
    for row in 0..features.n_rows() {
        let value = features.value(row, feature);
        let counts = !value.is_nan() && weights.is_none_or(|weights| weights[row] > 0.0);
        if counts && !distinct.insert(value) {
            return None;
        }
    }
    Some(distinct.into_sorted())
}

/// The distinct values with the weights of their rows, ascending; without NaN and without weight 0.
fn sorted(rows: impl Iterator<Item = (f32, f32)>) -> Vec<Weighted> {
    let counted = rows.filter(|(value, weight)| !value.is_nan() && *weight > 0.0);
    // Value above weight in one integer. By weight too, so that sums do not depend on the order of equal values.
    let mut rows: Vec<u64> = counted.map(|(v, w)| u64::from(key(v)) << 32 | u64::from(w.to_bits())).collect();
    rows.sort_unstable();
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    let parts = |row: u64| ((row >> 32) as u32, f32::from_bits(row as u32));
    let equal = rows.chunk_by(|a, b| a >> 32 == b >> 32);
    let weigh = |rows: &[u64]| Weighted {
        value: value(parts(rows[0]).0),
        weight: rows.iter().map(|&row| f64::from(parts(row).1)).sum(),
    };
    equal.map(weigh).collect()
}

/// Bits of a value such that integers compare as values do; both zeros have the same.
fn key(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits(); // -0 + 0 is +0
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The value of a key.
fn value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}
