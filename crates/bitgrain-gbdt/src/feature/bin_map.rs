//! `BinMap`: number of bins per feature and their offsets among the bins of all features.

use super::FeatureError;

/// Numbering of the bins of all features: first the bins of feature 0, then of feature 1, and so on.
///
/// A *bin* is numbered within its feature, a *global bin* across features: `feature_offsets()[feature] + bin`. A
/// histogram of all features is an array of [`total_bins`](Self::total_bins) entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinMap {
    offsets: Box<[u32]>,
    missing: Box<[bool]>,
}

impl BinMap {
    /// Creates a map from the number of value bins of each feature (at least 1) and whether a missing-value bin follows
    /// them.
    pub(super) fn new(value_bins: impl Iterator<Item = usize>, missing: Vec<bool>) -> Result<Self, FeatureError> {
        let mut end = 0_u64;
        let ends: Vec<u64> = value_bins
            .zip(&missing)
            .map(|(bins, &missing)| {
                end += bins as u64 + u64::from(missing);
                end
            })
            .collect();
        // `u32::MAX` stays free: ELLPACK pads its rows with the number after the last global bin.
        if end >= u64::from(u32::MAX) {
            return Err(FeatureError::TooManyBins { bins: end });
        }
        let narrowed = |end| u32::try_from(end).map_err(|_| FeatureError::TooManyBins { bins: end });
        let offsets = [0].into_iter().chain(ends).map(narrowed).collect::<Result<_, _>>()?;
        Ok(Self { offsets, missing: missing.into() })
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.missing.len()
    }

    /// Returns the first global bin of each feature, followed by the total number of bins.
    #[must_use]
    pub fn feature_offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Total number of bins of all features.
    #[must_use]
    pub fn total_bins(&self) -> u32 {
        self.offsets[self.n_features()]
    }

    /// Number of bins of a feature, including the missing-value bin.
    #[must_use]
    pub fn n_bins(&self, feature: usize) -> u32 {
        self.offsets[feature + 1] - self.offsets[feature]
    }

    /// Returns the bin of missing values: the last one, if the feature had missing values in training.
    #[must_use]
    pub fn missing_bin(&self, feature: usize) -> Option<u32> {
        self.missing[feature].then(|| self.last_bin(feature))
    }

    /// Returns the bin of NaN, whether or not the feature has a missing-value bin.
    pub(super) fn last_bin(&self, feature: usize) -> u32 {
        self.n_bins(feature) - 1
    }

    /// Largest number of bins of any feature.
    pub(super) fn widest(&self) -> u32 {
        (0..self.n_features()).map(|feature| self.n_bins(feature)).max().unwrap_or(0)
    }
}
