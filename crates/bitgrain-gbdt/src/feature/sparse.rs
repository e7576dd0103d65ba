//! Sparse matrix of raw values (CSR).

use std::borrow::Cow;
use std::ops::Range;

use super::FeatureError;
use crate::narrow::narrow;

/// Meaning of values without an entry in a sparse matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Absent {
    /// Zero, as in libsvm files and SciPy matrices.
    #[default]
    Zero,
    /// A missing value.
    Missing,
}

impl Absent {
    pub(super) const fn value(self) -> f32 {
        match self {
            Self::Zero => 0.0,
            Self::Missing => f32::NAN,
        }
    }
}

/// Compressed sparse rows.
#[derive(Debug, Clone)]
pub(super) struct Sparse<'a> {
    row_ptr: &'a [usize],
    /// Feature of each entry, ascending within a row.
    features: Cow<'a, [u32]>,
    values: Cow<'a, [f32]>,
    absent: Absent,
    n_features: usize,
}

/// Entries of some features in some rows, by feature and row.
#[derive(Debug)]
pub(crate) struct ByFeature {
    /// First entry of each feature, followed by the number of entries.
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f32>,
}

impl ByFeature {
    /// Returns the entries of the feature at a position: ascending row indices and values.
    pub(crate) fn entries(&self, at: usize) -> (&[u32], &[f32]) {
        let entries = self.starts[at]..self.starts[at + 1];
        (&self.rows[entries.clone()], &self.values[entries])
    }
}

impl<'a> Sparse<'a> {
    pub(super) fn new(
        row_ptr: &'a [usize],
        features: &'a [u32],
        values: &'a [f32],
        n_features: usize,
        absent: Absent,
    ) -> Result<Self, FeatureError> {
        let n_rows = row_ptr.len().saturating_sub(1);
        if n_rows == 0 || n_features == 0 {
            return Err(FeatureError::Empty { rows: n_rows, features: n_features });
        }
        if u32::try_from(n_rows).is_err() {
            return Err(FeatureError::TooManyRows { rows: n_rows });
        }
        if features.len() != values.len() {
            return Err(FeatureError::EntryCount { columns: features.len(), values: values.len() });
        }
        let ascend = check(row_ptr, features, n_features)?;
        let (features, values) = (Cow::Borrowed(features), Cow::Borrowed(values));
        let sparse = Self { row_ptr, features, values, absent, n_features };
        if ascend { Ok(sparse) } else { sparse.sorted() }
    }

    /// Sorts the entries of every row by feature.
    fn sorted(mut self) -> Result<Self, FeatureError> {
        let (features, values) = (self.features.to_mut(), self.values.to_mut());
        let mut entries = Vec::new();
        for (row, ends) in self.row_ptr.windows(2).enumerate() {
            let (features, values) = (&mut features[ends[0]..ends[1]], &mut values[ends[0]..ends[1]]);
            entries.clear();
            entries.extend(features.iter().copied().zip(values.iter().copied()));
            entries.sort_by_key(|entry| entry.0);
            if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                return Err(FeatureError::DuplicateColumn { row, column: pair[0].0 });
            }
            for ((feature, value), entry) in features.iter_mut().zip(values).zip(&entries) {
                (*feature, *value) = *entry;
            }
        }
        Ok(self)
    }

    pub(super) fn n_rows(&self) -> usize {
        self.row_ptr.len() - 1
    }

    pub(super) fn absent(&self) -> Absent {
        self.absent
    }

    /// Iterates over the entries of a row.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        let entries = self.row_ptr[row]..self.row_ptr[row + 1];
        let features = self.features[entries.clone()].iter().map(|&feature| feature as usize);
        features.zip(self.values[entries].iter().copied())
    }

    /// Iterates over the entries of a row whose features are in a range.
    pub(super) fn row_part(&self, row: usize, features: &Range<usize>) -> impl Iterator<Item = (usize, f32)> {
        let entries = self.row_ptr[row]..self.row_ptr[row + 1];
        let columns = &self.features[entries.clone()];
        let start = columns.partition_point(|&feature| (feature as usize) < features.start);
        let len = columns[start..].iter().take_while(|&&feature| (feature as usize) < features.end).count();
        let values = &self.values[entries][start..start + len];
        columns[start..start + len].iter().map(|&feature| feature as usize).zip(values.iter().copied())
    }

    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Copies the entries of some features in some rows, 8 bytes each. `place` returns the position of a feature among
    /// the `count` features, if it is one of them.
    pub(super) fn by_feature(
        &self,
        count: usize,
        place: impl Fn(usize) -> Option<usize>,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> ByFeature {
        let for_each_chosen = |visit: &mut dyn FnMut(usize, usize, f32)| {
            for row in rows.clone() {
                let chosen = self.row(row).filter_map(|(feature, value)| Some((place(feature)?, value)));
                chosen.for_each(|(place, value)| visit(place, row, value));
            }
        };
        let mut starts = vec![0; count + 1];
        for_each_chosen(&mut |place, _, _| starts[place + 1] += 1);
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let entries = starts[count];
        let (mut rows, mut values) = (vec![0; entries], vec![0.0; entries]);
        for_each_chosen(&mut |place, row, value| {
            let at = &mut next[place];
            (rows[*at], values[*at]) = (narrow(row), value);
            *at += 1;
        });
        ByFeature { starts, rows, values }
    }
}

/// Checks the row pointers and the range of the column indices. Returns whether the columns of every row ascend.
fn check(row_ptr: &[usize], columns: &[u32], n_features: usize) -> Result<bool, FeatureError> {
    let entries = columns.len();
    let mut ascend = true;
    let mut expected = 0;
    for (row, ends) in row_ptr.windows(2).enumerate() {
        let (start, end) = (ends[0], ends[1]);
        let is_last = row + 2 == row_ptr.len();
        if start != expected || start > end || end > entries || (is_last && end != entries) {
            return Err(FeatureError::RowEntries { row, start, end, entries });
        }
        expected = end;
        let columns = &columns[start..end];
        if let Some(&column) = columns.iter().find(|&&column| column as usize >= n_features) {
            return Err(FeatureError::ColumnRange { row, column, features: n_features });
        }
        ascend &= columns.is_sorted_by(|a, b| a < b);
    }
    Ok(ascend)
}
