//! Missing values of features that had none when their cuts were computed, and thus have no missing-value bin.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::feature::{BinCuts, Features};

/// Features read at a time: their f32 values fill a cache line of a row.
const FEATURES: usize = 16;

/// Rows read at a time; they fit in cache.
const ROWS: usize = 2048;

/// Rows with a missing value in a feature without a missing-value bin.
///
/// Binning puts these values into the last bin of their feature, but splits send them to the larger child.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Unseen {
    /// Bitmap of rows by feature; features without such rows have no entry.
    flags: BTreeMap<usize, Vec<u64>>,
}

impl Unseen {
    /// No flags.
    pub(super) const NONE: Self = Self { flags: BTreeMap::new() };

    /// Finds the missing values of raw features.
    pub(super) fn of(features: &Features<'_>, cuts: &BinCuts) -> Self {
        let without: Vec<usize> =
            (0..features.n_features()).filter(|&feature| cuts.map().missing_bin(feature).is_none()).collect();
        let mut sparse = BTreeMap::new();
        let is_sparse = features.missing_entries(|row, feature| {
            if cuts.map().missing_bin(feature).is_none() {
                set(&mut sparse, feature, row, features.n_rows());
            }
        });
        if is_sparse {
            return Self { flags: sparse };
        }
        let groups: Vec<usize> = (0..features.n_features()).step_by(FEATURES).collect();
        let of_group = |&first: &usize| {
            let group = first..features.n_features().min(first + FEATURES);
            if !without.iter().any(|feature| group.contains(feature)) {
                return BTreeMap::new();
            }
            let mut flags = BTreeMap::new();
            let mut values = vec![0.0; ROWS * group.len()];
            for start in (0..features.n_rows()).step_by(ROWS) {
                let rows = start..features.n_rows().min(start + ROWS);
                features.read_f32(group.clone(), rows.clone(), &mut values, ROWS);
                for (feature, column) in group.clone().zip(values.chunks(ROWS)) {
                    let missing = rows.clone().zip(column).filter(|(_, value)| value.is_nan());
                    if cuts.map().missing_bin(feature).is_none() {
                        missing.for_each(|(row, _)| set(&mut flags, feature, row, features.n_rows()));
                    }
                }
            }
            flags
        };
        Self { flags: groups.par_iter().map(of_group).reduce(BTreeMap::new, merged) }
    }

    /// Returns the bitmap of a feature, or `None` if it has no such rows.
    pub(super) fn flags(&self, feature: usize) -> Option<&[u64]> {
        self.flags.get(&feature).map(Vec::as_slice)
    }

    /// Returns the bitmaps of some rows in the given order.
    pub(super) fn rows(&self, rows: &[usize]) -> Self {
        let mut chosen = BTreeMap::new();
        for (&feature, flags) in &self.flags {
            let missing = rows.iter().enumerate().filter(|(_, row)| is_set(flags, **row));
            missing.for_each(|(place, _)| set(&mut chosen, feature, place, rows.len()));
        }
        Self { flags: chosen }
    }
}

/// Returns whether the bit of a row is set.
pub(super) fn is_set(flags: &[u64], row: usize) -> bool {
    flags[row / 64] >> (row % 64) & 1 == 1
}

fn set(flags: &mut BTreeMap<usize, Vec<u64>>, feature: usize, row: usize, n_rows: usize) {
    flags.entry(feature).or_insert_with(|| vec![0; n_rows.div_ceil(64)])[row / 64] |= 1 << (row % 64);
}

fn merged(mut a: BTreeMap<usize, Vec<u64>>, mut b: BTreeMap<usize, Vec<u64>>) -> BTreeMap<usize, Vec<u64>> {
    a.append(&mut b);
    a
}
