//! `Quantizer`: finds the cuts of every feature, independently of the number of threads.

use rayon::prelude::*;

use super::categories::Categories;
use super::cuts::FeatureBins;
use super::frequency::Frequencies;
use super::input::Matrix;
use super::precise::{in_need_of_f64, precise_cuts};
use super::quantile::midpoint;
use super::sample::Sample;
use super::seen::Seen;
use super::weights::Weights;
use super::{BinCuts, FeatureError, FeatureKind, Features};
use crate::parameter::{self, ParameterError, ParameterValue};

/// Configuration and entry point of the search for cuts.
///
/// A feature with at most as many distinct values as bins gets one bin per value, so that rare values keep their own
/// bin regardless of the number of rows. Other features are cut into bins of about equal weight: exactly up to `sample_rows`
/// rows, from a seeded sample of that many rows beyond.
///
/// Values are compared as f32, which moves a cut by at most a rounding error. An f64 feature whose values f32 would
/// merge (identifiers near 10^9, timestamps in milliseconds) is cut and compared as f64.
///
/// A categorical feature gets a bin for each of its most frequent categories: up to 255, or up to `max_bin - 1` if that
/// is larger. Limits below 256 apply to numeric features only: neighboring numbers can share a bin, but categories that
/// share a bin cannot be told apart.
///
/// ```
/// use bitgrain_gbdt::feature::{Features, Quantizer};
/// let values: Vec<f32> = (0..100).map(|i| i as f32).collect();
/// let features = Features::column_major(&values[..], 100, 1)?;
/// let cuts = Quantizer::default().with_max_bin(4)?.compute_cuts(&features, None)?;
/// assert_eq!(cuts.cuts(0), [24.5, 49.5, 74.5]); // 25 values in each bin
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantizer {
    max_bin: u32,
    sample_rows: usize,
    seed: u64,
}

/// Minimum bin limit of categorical features: as many bins as fit a byte.
pub(super) const CATEGORY_BINS: u32 = 256;

impl Default for Quantizer {
    /// 256 bins, which fit a byte; a sample of 200,000 rows; seed 0.
    fn default() -> Self {
        Self { max_bin: 256, sample_rows: 200_000, seed: 0 }
    }
}

impl Quantizer {
    /// Upper limit of `max_bin`: the number of f32 significands.
    pub const MAX_BIN: u32 = 1 << 24;

    /// Sets the maximum number of bins per feature, including the missing-value bin of features with missing values.
    /// Categorical features may have 256 bins in any case.
    ///
    /// # Errors
    /// Returns [`ParameterError::Invalid`] unless `max_bin` is in `2..=`[`Quantizer::MAX_BIN`].
    pub fn with_max_bin(self, max_bin: u32) -> Result<Self, ParameterError> {
        checked("max_bin", max_bin)?;
        Ok(Self { max_bin, ..self })
    }

    /// Sets the number of rows that quantiles are computed from if the data has more.
    ///
    /// # Errors
    /// Returns [`ParameterError::Invalid`] for 0.
    pub fn with_sample_rows(self, sample_rows: usize) -> Result<Self, ParameterError> {
        checked("sample_rows", sample_rows)?;
        Ok(Self { sample_rows, ..self })
    }

    /// Sets the seed of the row sample.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    pub(crate) fn max_bin(&self) -> u32 {
        self.max_bin
    }

    pub(crate) fn sample_rows(&self) -> usize {
        self.sample_rows
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Computes the cuts or categories of every feature. Rows count by their weight (default 1). Values in rows of
    /// weight 0 are ignored, except that a missing value there still gives its feature a missing-value bin.
    ///
    /// # Errors
    /// Returns [`FeatureError::Sample`] for invalid weights, [`FeatureError::InvalidCategory`], or
    /// [`FeatureError::TooManyBins`] if the features have too many bins in total.
    pub fn compute_cuts(&self, features: &Features<'_>, weights: Option<&[f32]>) -> Result<BinCuts, FeatureError> {
        let weights = Weights::new(weights, features.n_rows())?;
        let n_features = features.n_features();
        let of_kind = |kind| -> Vec<usize> { (0..n_features).filter(|&f| features.kind(f) == kind).collect() };
        let mut bins = vec![FeatureBins::Cuts(Box::default()); n_features];
        let mut missing = vec![true; n_features];

        let categorical = of_kind(FeatureKind::Categorical);
        for (&feature, counted) in categorical.iter().zip(Frequencies::of(features, &categorical, weights)) {
            if let Some((row, value)) = counted.invalid() {
                return Err(FeatureError::InvalidCategory { row, feature, value });
            }
            let codes = counted.most_frequent(self.max_bin.max(CATEGORY_BINS) as usize - 1);
            bins[feature] = FeatureBins::Categories(Categories::new(codes));
        }

        let numeric = of_kind(FeatureKind::Numeric);
        let mut of_many_values = Vec::new();
        for (&feature, seen) in numeric.iter().zip(Seen::of(features, &numeric, weights, self.max_bin as usize)) {
            missing[feature] = seen.missing;
            match seen.few(self.value_bins(missing[feature])) {
                Some(values) => bins[feature] = between(&values),
                None => of_many_values.push(feature),
            }
        }
        let sample = Sample::new(features, weights, self.sample_rows, self.seed);
        let found = sample.cuts(&of_many_values, |feature| self.value_bins(missing[feature]));
        for (feature, cuts) in of_many_values.into_iter().zip(found) {
            bins[feature] = FeatureBins::Cuts(cuts.into());
        }
        if let Matrix::Dense(dense) = features.matrix()
            && dense.is_f64()
        {
            let n_rows = features.n_rows();
            let value_bins = |feature: usize| self.value_bins(missing[feature]);
            let precise = in_need_of_f64(dense, &numeric, n_rows, value_bins);
            let of =
                |&feature: &usize| precise_cuts(dense, feature, (n_rows, sample.rows()), weights, value_bins(feature));
            let found: Vec<Vec<f64>> = precise.par_iter().map(of).collect();
            for (feature, cuts) in precise.into_iter().zip(found) {
                bins[feature] = FeatureBins::Precise(cuts.into());
            }
        }
        BinCuts::from_bins(bins, missing)
    }

    /// Number of value bins of a numeric feature.
    pub(super) fn value_bins(&self, missing: bool) -> usize {
        (self.max_bin - u32::from(missing)) as usize
    }
}

/// Checks a value against its range in the parameter table.
fn checked(name: &str, value: impl Into<ParameterValue>) -> Result<(), ParameterError> {
    parameter::find(name)?.check(name, &value.into()).map(drop)
}

/// Returns one bin per value of an ascending list.
pub(super) fn between(values: &[f32]) -> FeatureBins {
    FeatureBins::Cuts(values.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect())
}
