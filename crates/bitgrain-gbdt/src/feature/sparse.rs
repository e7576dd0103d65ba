//! Sparse matrix of raw values (CSR).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::FeatureError;

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

/// Compressed sparse rows, with a lazily built column-wise copy.
#[derive(Debug, Clone)]
pub(super) struct Sparse<'a> {
    row_ptr: &'a [usize],
    /// Feature of each entry, ascending within a row.
    features: Cow<'a, [u32]>,
    values: Cow<'a, [f32]>,
    absent: Absent,
    n_features: usize,
    by_feature: OnceLock<Arc<ByFeature>>,
}

/// Entries by feature: those of feature `f` are `starts[f]..starts[f + 1]`, in row order.
#[derive(Debug)]
struct ByFeature {
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f32>,
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
        let sparse = Self { row_ptr, features, values, absent, n_features, by_feature: OnceLock::new() };
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

    /// Returns the entries of a feature in a range of rows: ascending row indices and values.
    pub(super) fn entries(&self, feature: usize, rows: Range<usize>) -> (&[u32], &[f32]) {
        let by_feature = self.by_feature.get_or_init(|| Arc::new(self.transposed()));
        let all = by_feature.starts[feature]..by_feature.starts[feature + 1];
        let (in_rows, values) = (&by_feature.rows[all.clone()], &by_feature.values[all]);
        let first = in_rows.partition_point(|&row| (row as usize) < rows.start);
        let len = in_rows[first..].partition_point(|&row| (row as usize) < rows.end);
        (&in_rows[first..first + len], &values[first..first + len])
    }

    fn transposed(&self) -> ByFeature {
        let mut starts = vec![0; self.n_features + 1];
        self.features.iter().for_each(|&feature| starts[feature as usize + 1] += 1);
        for feature in 0..self.n_features {
            starts[feature + 1] += starts[feature];
        }
        let mut next = starts.clone();
        let (mut rows, mut values) = (vec![0; self.features.len()], vec![0.0; self.features.len()]);
        for (row, ends) in (0..).zip(self.row_ptr.windows(2)) {
            let entries = ends[0]..ends[1];
            for (&feature, &value) in self.features[entries.clone()].iter().zip(&self.values[entries]) {
                let place = &mut next[feature as usize];
                (rows[*place], values[*place]) = (row, value);
                *place += 1;
            }
        }
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
