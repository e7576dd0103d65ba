//! Cuts or categories of all features, and the binning rule.

use std::sync::Arc;

use bitgrain_kernels::Backend;
use bitgrain_kernels::bins::{BinCode, bin_f32};

use super::categories::Categories;
use super::source::RawBins;
use super::{BinLayout, BinMap, BinStorage, FeatureError, FeatureKind, Features, QuantizedMatrix};
use crate::narrow::narrow;

/// Cuts of the numeric features, categories of the categorical ones, and whether each feature has a missing-value bin.
///
/// ```
/// use bitgrain_gbdt::feature::BinCuts;
/// let cuts = BinCuts::new(&[vec![0.5, 2.0], vec![]], vec![true, false])?;
/// assert_eq!([0.5, 0.6, 9.0, f32::NAN].map(|value| cuts.bin(0, value)), [0, 1, 2, 3]);
/// assert_eq!(cuts.map().feature_offsets(), [0, 4, 5]); // three value bins, a missing-value bin; one bin
/// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BinCuts {
    bins: Box<[FeatureBins]>,
    map: Arc<BinMap>,
}

/// Bin boundaries of a feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FeatureBins {
    Cuts(Box<[f32]>),
    /// f64 cuts, for values that f32 would merge.
    Precise(Box<[f64]>),
    Categories(Categories),
}

impl FeatureBins {
    /// Number of bins without the missing-value bin.
    fn value_bins(&self) -> usize {
        match self {
            Self::Cuts(cuts) => cuts.len() + 1,
            Self::Precise(cuts) => cuts.len() + 1,
            Self::Categories(categories) => categories.codes().len(),
        }
    }
}

impl BinCuts {
    /// Creates cuts for numeric features; `missing` states which features have a missing-value bin.
    ///
    /// # Errors
    /// Returns [`FeatureError::Empty`], [`FeatureError::FeatureCount`] if the lengths differ,
    /// [`FeatureError::UnsortedCuts`] or [`FeatureError::TooManyBins`].
    pub fn new(cuts: &[Vec<f32>], missing: Vec<bool>) -> Result<Self, FeatureError> {
        if cuts.is_empty() {
            return Err(FeatureError::Empty { rows: 0, features: 0 });
        }
        if cuts.len() != missing.len() {
            return Err(FeatureError::FeatureCount { expected: cuts.len(), found: missing.len() });
        }
        let ascend = |cuts: &[f32]| cuts.is_sorted_by(|a, b| a < b) && !cuts.iter().any(|cut| cut.is_nan());
        if let Some(feature) = cuts.iter().position(|cuts| !ascend(cuts)) {
            return Err(FeatureError::UnsortedCuts { feature });
        }
        Self::from_bins(cuts.iter().map(|cuts| FeatureBins::Cuts(cuts[..].into())).collect(), missing)
    }

    /// Creates cuts from the bins of each feature. `missing` must be true for categorical features.
    pub(super) fn from_bins(bins: Vec<FeatureBins>, missing: Vec<bool>) -> Result<Self, FeatureError> {
        let map = BinMap::new(bins.iter().map(FeatureBins::value_bins), missing)?;
        Ok(Self { bins: bins.into(), map: Arc::new(map) })
    }

    /// Returns these cuts for a worker whose category codes differ: `codes[feature][code]` is the code here of its
    /// `code`. Features without such codes keep theirs.
    pub(super) fn recoded(&self, codes: &[Option<Vec<u32>>]) -> Self {
        let recode = |(bins, codes): (&FeatureBins, &Option<Vec<u32>>)| match (bins, codes) {
            (FeatureBins::Categories(categories), Some(codes)) => {
                let bin =
                    |code: &u32| narrow(categories.codes().binary_search(code).unwrap_or(categories.codes().len()));
                FeatureBins::Categories(categories.recoded(codes.iter().map(bin).collect()))
            }
            (bins, _) => bins.clone(),
        };
        Self { bins: self.bins.iter().zip(codes).map(recode).collect(), map: Arc::clone(&self.map) }
    }

    /// Kind of a feature.
    #[must_use]
    pub fn kind(&self, feature: usize) -> FeatureKind {
        match self.bins[feature] {
            FeatureBins::Cuts(_) | FeatureBins::Precise(_) => FeatureKind::Numeric,
            FeatureBins::Categories(_) => FeatureKind::Categorical,
        }
    }

    /// Returns the cuts of a numeric feature. Bin `i` ends at cut `i`, inclusive; the last bin holds the values above
    /// all cuts. Empty for categorical features and for features with [f64 cuts](Self::precise_cuts).
    #[must_use]
    pub fn cuts(&self, feature: usize) -> &[f32] {
        match &self.bins[feature] {
            FeatureBins::Cuts(cuts) => cuts,
            FeatureBins::Precise(_) | FeatureBins::Categories(_) => &[],
        }
    }

    /// Returns the f64 cuts of a numeric feature whose values f32 would merge, such as identifiers near 10^9, or `None`
    /// for any other feature. Values of such a feature are compared as f64.
    #[must_use]
    pub fn precise_cuts(&self, feature: usize) -> Option<&[f64]> {
        match &self.bins[feature] {
            FeatureBins::Precise(cuts) => Some(cuts),
            FeatureBins::Cuts(_) | FeatureBins::Categories(_) => None,
        }
    }

    /// Returns the cuts of a numeric feature in f64, regardless of their stored precision.
    #[must_use]
    pub fn all_cuts(&self, feature: usize) -> Vec<f64> {
        match &self.bins[feature] {
            FeatureBins::Precise(cuts) => cuts.to_vec(),
            _ => self.cuts(feature).iter().map(|&cut| f64::from(cut)).collect(),
        }
    }

    /// Returns whether any feature is compared as f64.
    pub(crate) fn any_precise(&self) -> bool {
        self.bins.iter().any(|bins| matches!(bins, FeatureBins::Precise(_)))
    }

    /// Returns the ascending codes of a categorical feature that have a bin: code `categories[i]` has bin `i`. The bin
    /// after them holds missing values and all other codes. Empty for numeric features.
    #[must_use]
    pub fn categories(&self, feature: usize) -> &[u32] {
        match &self.bins[feature] {
            FeatureBins::Cuts(_) | FeatureBins::Precise(_) => &[],
            FeatureBins::Categories(categories) => categories.codes(),
        }
    }

    /// Number and offsets of the bins of each feature.
    #[must_use]
    pub fn map(&self) -> &BinMap {
        &self.map
    }

    /// Returns the bin of a value: the number of cuts below it or the index of its category, or the feature's last bin
    /// for NaN and unknown categories.
    #[must_use]
    pub fn bin(&self, feature: usize, value: f32) -> u32 {
        let bin = match &self.bins[feature] {
            FeatureBins::Cuts(_) | FeatureBins::Precise(_) if value.is_nan() => return self.map.last_bin(feature),
            FeatureBins::Cuts(cuts) => cuts.partition_point(|cut| *cut < value),
            FeatureBins::Precise(cuts) => cuts.partition_point(|cut| *cut < f64::from(value)),
            FeatureBins::Categories(categories) => categories.bin(value),
        };
        narrow(bin)
    }

    /// Bins values into `out`. The width of `C` must hold all bins of the feature.
    pub(super) fn bin_all<C: BinCode>(&self, feature: usize, values: &[f32], out: &mut [C]) {
        let cuts = match &self.bins[feature] {
            FeatureBins::Cuts(cuts) => cuts,
            FeatureBins::Categories(categories) => return categories.bin_all(values, out),
            FeatureBins::Precise(cuts) => {
                return self.bin_precise(feature, cuts, values.iter().map(|&value| f64::from(value)), out);
            }
        };
        let last = C::of_bin(self.map.last_bin(feature) as usize);
        if let Err(error) = bin_f32(Backend::best(), cuts, values, last, out) {
            unreachable!("cuts and bins were checked on creation: {error}");
        }
    }

    /// Bins f64 values into `out`.
    pub(super) fn bin_precise<C: BinCode>(
        &self,
        feature: usize,
        cuts: &[f64],
        values: impl Iterator<Item = f64>,
        out: &mut [C],
    ) {
        let last = self.map.last_bin(feature) as usize;
        let bin = |value: f64| if value.is_nan() { last } else { cuts.partition_point(|cut| *cut < value) };
        out.iter_mut().zip(values).for_each(|(out, value)| *out = C::of_bin(bin(value)));
    }

    /// Returns a source that bins raw features one block of rows at a time.
    ///
    /// # Errors
    /// Returns [`FeatureError::FeatureCount`] if the number of features differs.
    pub(crate) fn source<'a>(&'a self, features: &'a Features<'a>) -> Result<RawBins<'a>, FeatureError> {
        let (expected, found) = (self.map.n_features(), features.n_features());
        if expected != found {
            return Err(FeatureError::FeatureCount { expected, found });
        }
        Ok(RawBins { cuts: self, features })
    }

    /// Bins a matrix on all threads of the pool. Feature kinds are taken from the cuts, not from the matrix.
    ///
    /// # Errors
    /// Returns [`FeatureError::FeatureCount`] if the number of features differs.
    pub fn quantize(&self, features: &Features<'_>, layout: BinLayout) -> Result<QuantizedMatrix, FeatureError> {
        let storage = BinStorage::build(&self.source(features)?, &self.map, layout);
        Ok(QuantizedMatrix::new(storage, features.n_rows(), Arc::clone(&self.map)))
    }
}
