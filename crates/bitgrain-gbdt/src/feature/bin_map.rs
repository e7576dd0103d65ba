//! Which bins there are: how many each feature has, and where they are among the bins of all.

use super::FeatureError;

/// The bins of every feature in one line: those of feature 0, then those of feature 1, and so on.
///
/// A *bin* is counted within its feature, a *global bin* in the line: `feature_offsets()[feature] + bin`. A histogram of
/// all features is an array of [`total_bins`](Self::total_bins) entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinMap {
    offsets: Box<[u32]>,
    missing: Box<[bool]>,
}

impl BinMap {
    /// From bins of values per feature, at least one each, and whether one for missing values follows.
    pub(super) fn new(value_bins: impl Iterator<Item = usize>, missing: Vec<bool>) -> Result<Self, FeatureError> {
        let mut end = 0_u64;
        let ends: Vec<u64> = value_bins
            .zip(&missing)
            .map(|(bins, &missing)| {
                end += bins as u64 + u64::from(missing);
                end
            })
            .collect();
        // One more number stays free for what is not there.
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

    /// The first global bin of each feature, and the number of all bins behind the last.
    #[must_use]
    pub fn feature_offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Bins of all features.
    #[must_use]
    pub fn total_bins(&self) -> u32 {
        self.offsets[self.n_features()]
    }

    /// Bins of a feature, that for missing values included.
    #[must_use]
    pub fn n_bins(&self, feature: usize) -> u32 {
        self.offsets[feature + 1] - self.offsets[feature]
    }

    /// The bin of missing values: the last, if the feature missed any in training.
    #[must_use]
    pub fn missing_bin(&self, feature: usize) -> Option<u32> {
        self.missing[feature].then(|| self.last_bin(feature))
    }

    /// The bin a NaN falls into, for missing values or not.
    pub(super) fn last_bin(&self, feature: usize) -> u32 {
        self.n_bins(feature) - 1
    }

    /// The most bins that any feature has.
    pub(super) fn widest(&self) -> u32 {
        (0..self.n_features()).map(|feature| self.n_bins(feature)).max().unwrap_or(0)
    }
}
