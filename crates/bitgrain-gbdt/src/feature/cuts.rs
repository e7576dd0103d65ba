//! The cuts or categories of all features, and the rule that puts a value into a bin.

use std::sync::Arc;

use bitgrain_kernels::Backend;
use bitgrain_kernels::bins::{BinCode, bin_f32};

use super::categories::Categories;
use super::source::RawBins;
use super::{BinLayout, BinMap, BinStorage, FeatureError, FeatureKind, Features, QuantizedMatrix};
use crate::narrow::narrow;

/// Ascending cuts of every numeric feature, the categories of every categorical one, and which features have a bin for
/// missing values.
///
/// ```
/// use bitgrain_gbdt::feature::BinCuts;
/// let cuts = BinCuts::new(&[vec![0.5, 2.0], vec![]], vec![true, false])?;
/// assert_eq!([0.5, 0.6, 9.0, f32::NAN].map(|value| cuts.bin(0, value)), [0, 1, 2, 3]);
/// assert_eq!(cuts.map().feature_offsets(), [0, 4, 5]); // three bins and the missing one, then a single bin
/// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BinCuts {
    bins: Box<[FeatureBins]>,
    map: Arc<BinMap>,
}

/// What tells the bins of a feature apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FeatureBins {
    Cuts(Box<[f32]>),
    /// Of values that f32 does not tell apart.
    Precise(Box<[f64]>),
    Categories(Categories),
}

impl FeatureBins {
    /// Bins without the one for missing values.
    fn value_bins(&self) -> usize {
        match self {
            Self::Cuts(cuts) => cuts.len() + 1,
            Self::Precise(cuts) => cuts.len() + 1,
            Self::Categories(categories) => categories.codes().len(),
        }
    }
}

impl BinCuts {
    /// Cuts per feature, all numeric, and whether each has a bin for missing values.
    ///
    /// # Errors
    /// [`FeatureError::Empty`], [`FeatureError::FeatureCount`] if the two have different lengths,
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

    /// The bins of as many features; categorical ones have a bin for missing values.
    pub(super) fn from_bins(bins: Vec<FeatureBins>, missing: Vec<bool>) -> Result<Self, FeatureError> {
        let map = BinMap::new(bins.iter().map(FeatureBins::value_bins), missing)?;
        Ok(Self { bins: bins.into(), map: Arc::new(map) })
    }

    /// What the values of a feature mean.
    #[must_use]
    pub fn kind(&self, feature: usize) -> FeatureKind {
        match self.bins[feature] {
            FeatureBins::Cuts(_) | FeatureBins::Precise(_) => FeatureKind::Numeric,
            FeatureBins::Categories(_) => FeatureKind::Categorical,
        }
    }

    /// The cuts of a numeric feature. Bin `i` ends at cut `i`, which it includes; one more bin is behind the last.
    /// A categorical feature has none here, nor has one that [needs f64](Self::precise_cuts).
    #[must_use]
    pub fn cuts(&self, feature: usize) -> &[f32] {
        match &self.bins[feature] {
            FeatureBins::Cuts(cuts) => cuts,
            FeatureBins::Precise(_) | FeatureBins::Categories(_) => &[],
        }
    }

    /// The cuts of a numeric feature whose values f32 does not tell apart, such as identifiers near 10^9; `None` for any
    /// other feature. Its values are compared as f64.
    #[must_use]
    pub fn precise_cuts(&self, feature: usize) -> Option<&[f64]> {
        match &self.bins[feature] {
            FeatureBins::Precise(cuts) => Some(cuts),
            FeatureBins::Cuts(_) | FeatureBins::Categories(_) => None,
        }
    }

    /// The cuts of a numeric feature, whichever precision they have.
    #[must_use]
    pub fn all_cuts(&self, feature: usize) -> Vec<f64> {
        match &self.bins[feature] {
            FeatureBins::Precise(cuts) => cuts.to_vec(),
            _ => self.cuts(feature).iter().map(|&cut| f64::from(cut)).collect(),
        }
    }

    /// Whether any feature is compared as f64.
    pub(crate) fn any_precise(&self) -> bool {
        self.bins.iter().any(|bins| matches!(bins, FeatureBins::Precise(_)))
    }

    /// The codes of a categorical feature that have a bin, ascending: bin `i` is that of code `i` of these. Behind them
    /// is the bin of what is missing and of all other codes. A numeric feature has none.
    #[must_use]
    pub fn categories(&self, feature: usize) -> &[u32] {
        match &self.bins[feature] {
            FeatureBins::Cuts(_) | FeatureBins::Precise(_) => &[],
            FeatureBins::Categories(categories) => categories.codes(),
        }
    }

    /// How many bins there are, and where.
    #[must_use]
    pub fn map(&self) -> &BinMap {
        &self.map
    }

    /// The bin of one value: the number of cuts below it or the place of its category, or the feature's last bin for
    /// NaN and what is none of the categories.
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

    /// The bins of as many values as there are places. The codes have room for the feature's bins.
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
            unreachable!("cuts were checked and bins counted when they were made: {error}");
        }
    }

    /// The bins of as many f64 values as there are places.
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

    /// The bins of raw features, to be read a block of rows at a time.
    ///
    /// # Errors
    /// [`FeatureError::FeatureCount`] unless there are as many features as here.
    pub(crate) fn source<'a>(&'a self, features: &'a Features<'a>) -> Result<RawBins<'a>, FeatureError> {
        let (expected, found) = (self.map.n_features(), features.n_features());
        if expected != found {
            return Err(FeatureError::FeatureCount { expected, found });
        }
        Ok(RawBins { cuts: self, features })
    }

    /// The bins of a whole matrix, on every thread of the pool. What the features are is what they were when the cuts
    /// were found, whatever the matrix says.
    ///
    /// # Errors
    /// [`FeatureError::FeatureCount`] unless there are as many features as here.
    pub fn quantize(&self, features: &Features<'_>, layout: BinLayout) -> Result<QuantizedMatrix, FeatureError> {
        let storage = BinStorage::build(&self.source(features)?, &self.map, layout);
        Ok(QuantizedMatrix::new(storage, features.n_rows(), Arc::clone(&self.map)))
    }
}
