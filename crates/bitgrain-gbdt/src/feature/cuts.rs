//! The cuts of all features, and the rule that puts a value into a bin.

use std::sync::Arc;

use bitgrain_kernels::{Backend, BinCode, bin_f32};

use super::columns::Columns;
use super::tile::Raw;
use super::{BinMap, FeatureError, Features, Layout, QuantizedMatrix, Storage};

/// Ascending cuts of every feature, one after another, and which features have a bin for missing values.
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
    values: Box<[f32]>,
    /// The cuts of feature `f` are `values[ptrs[f]..ptrs[f + 1]]`.
    ptrs: Box<[u32]>,
    map: Arc<BinMap>,
}

impl BinCuts {
    /// Cuts per feature, and whether each has a bin for missing values.
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
        let map = BinMap::new(cuts.iter().map(|cuts| cuts.len() + 1), missing)?;
        // There are fewer cuts than bins, and those have been counted.
        let mut end = 0;
        let ends = cuts.iter().map(|cuts| {
            end += u32::try_from(cuts.len()).unwrap_or(u32::MAX);
            end
        });
        let ptrs = [0].into_iter().chain(ends).collect();
        Ok(Self { values: cuts.concat().into(), ptrs, map: Arc::new(map) })
    }

    /// The cuts of a feature. Bin `i` ends at cut `i`, which it includes; one more bin is behind the last.
    #[must_use]
    pub fn cuts(&self, feature: usize) -> &[f32] {
        &self.values[self.ptrs[feature] as usize..self.ptrs[feature + 1] as usize]
    }

    /// How many bins there are, and where.
    #[must_use]
    pub fn map(&self) -> &BinMap {
        &self.map
    }

    /// The bin of one value: the number of cuts below it, or the feature's last bin for NaN.
    #[must_use]
    pub fn bin(&self, feature: usize, value: f32) -> u32 {
        if value.is_nan() {
            return self.map.last_bin(feature);
        }
        let below = self.cuts(feature).partition_point(|cut| *cut < value);
        u32::try_from(below).unwrap_or(u32::MAX)
    }

    /// The bins of as many values as there are places, by the kernel. The codes have room for the feature's bins.
    pub(super) fn bin_all<C: BinCode>(&self, feature: usize, values: &[f32], out: &mut [C]) {
        let last = C::of_bin(self.map.last_bin(feature) as usize);
        if let Err(error) = bin_f32(Backend::best(), self.cuts(feature), values, last, out) {
            unreachable!("cuts were checked and bins counted when they were made: {error}");
        }
    }

    /// The bins of a whole matrix, on every thread of the pool.
    ///
    /// # Errors
    /// [`FeatureError::FeatureCount`] unless there are as many features as here.
    pub fn quantize(&self, features: &Features<'_>, layout: Layout) -> Result<QuantizedMatrix, FeatureError> {
        let (expected, found) = (self.map.n_features(), features.n_features());
        if expected != found {
            return Err(FeatureError::FeatureCount { expected, found });
        }
        let storage = match layout {
            Layout::Columns => Storage::Columns(Columns::quantize(self, features)),
            other => Storage::build(&Raw { cuts: self, features }, features.n_rows(), &self.map, other),
        };
        Ok(QuantizedMatrix::new(storage, features.n_rows(), Arc::clone(&self.map)))
    }
}
