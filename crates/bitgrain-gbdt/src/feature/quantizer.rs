//! Finds the cuts of every feature, the same for a seed whatever the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::distinct::Distinct;
use super::quantile::{cuts, midpoint};
use super::sample::sample;
use super::sorted::{sorted, sorted_with_weights};
use super::{BinCuts, FeatureError, Features};

/// Features that are sampled together: a cache line of a row.
const GROUP: usize = 16;

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
        let rows = self.sampled_rows(features.n_rows(), weights);
        let data = Data { features, weights, rows, missing: features.missing() };
        let n_features = features.n_features();
        let groups = (0..n_features).step_by(GROUP).map(|first| first..n_features.min(first + GROUP));
        let of_group = |group: Range<usize>| -> Vec<Vec<f32>> {
            let columns = features.sampled(group.clone(), &data.rows);
            let columns = group.into_par_iter().zip(columns);
            columns.map(|(feature, column)| data.cuts(feature, &column, self.max_bin)).collect()
        };
        let cuts: Vec<Vec<f32>> = groups.collect::<Vec<_>>().into_par_iter().flat_map_iter(of_group).collect();
        BinCuts::new(&cuts, data.missing)
    }

    /// The rows that quantiles are taken from, of those that weigh anything.
    fn sampled_rows(&self, n_rows: usize, weights: Option<&[f32]>) -> Vec<usize> {
        let Some(weights) = weights else { return sample(n_rows, self.sample_rows, self.seed) };
        let counted: Vec<usize> = (0..n_rows).filter(|&row| weights[row] > 0.0).collect();
        sample(counted.len(), self.sample_rows, self.seed).into_iter().map(|at| counted[at]).collect()
    }
}

/// What the cuts of a feature depend on.
struct Data<'a> {
    features: &'a Features<'a>,
    weights: Option<&'a [f32]>,
    /// The sample.
    rows: Vec<usize>,
    missing: Vec<bool>,
}

impl Data<'_> {
    /// The cuts of a feature whose values in the sample are known.
    fn cuts(&self, feature: usize, sampled: &[f32], max_bin: u32) -> Vec<f32> {
        let bins = (max_bin - u32::from(self.missing[feature])) as usize;
        if let Some(values) = self.distinct(feature, sampled, bins) {
            return values.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect();
        }
        let values = match self.weights {
            None => sorted(sampled),
            Some(weights) => sorted_with_weights(sampled, self.rows.iter().map(|&row| weights[row])),
        };
        cuts(&values, bins)
    }

    /// The values of a feature, ascending, unless there are more than `limit`. Every row that counts is looked at, not
    /// only the sample, but those of many values are given up after few.
    fn distinct(&self, feature: usize, sampled: &[f32], limit: usize) -> Option<Vec<f32>> {
        let n_rows = self.features.n_rows();
        if self.rows.len() == n_rows {
            return distinct(sampled.iter().copied(), limit);
        }
        let counted = (0..n_rows).filter(|&row| self.weights.is_none_or(|weights| weights[row] > 0.0));
        distinct(counted.map(|row| self.features.value(row, feature)), limit)
    }
}

fn distinct(values: impl Iterator<Item = f32>, limit: usize) -> Option<Vec<f32>> {
    let mut distinct = Distinct::new(limit);
    values.filter(|value| !value.is_nan()).all(|value| distinct.insert(value)).then(|| distinct.into_sorted())
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
