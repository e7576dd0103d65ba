//! First pass over a numeric feature: whether it has missing values, and its distinct values if they are few.

use std::ops::Range;

use rayon::prelude::*;

use super::dense::Dense;
use super::distinct::Distinct;
use super::input::Matrix;
use super::source::places;
use super::sparse::Sparse;
use super::tile::blocks;
use super::weights::Weights;
use super::{Absent, Features};

/// Summary of the values of a feature.
pub(super) struct Seen {
    /// Whether any value is missing, including rows of weight 0.
    pub(super) missing: bool,
    /// Distinct values of the rows with nonzero weight; `None` above the limit.
    distinct: Option<Distinct>,
}

impl Seen {
    /// Scans all rows of the given features; stops collecting distinct values above `limit`.
    pub(super) fn of(features: &Features<'_>, which: &[usize], weights: Weights<'_>, limit: usize) -> Vec<Self> {
        match features.matrix() {
            Matrix::Dense(dense) => Self::of_dense(dense, features.n_rows(), which, weights, limit),
            Matrix::Sparse(sparse) => Self::of_sparse(sparse, which, weights, limit),
        }
    }

    /// Scans blocks of rows, so that memory is read sequentially in either order.
    fn of_dense(dense: &Dense<'_>, n_rows: usize, which: &[usize], weights: Weights<'_>, limit: usize) -> Vec<Self> {
        let nothing = || -> Vec<Self> { which.iter().map(|_| Self::nothing(limit)).collect() };
        let add = |mut seen: Vec<Self>, rows: Range<usize>| {
            dense.for_each_piece(which, rows, |at, rows, values| seen[at].add(values, rows, weights));
            seen
        };
        let merge = |a: Vec<Self>, b: Vec<Self>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
        blocks(n_rows, which.len()).into_par_iter().fold(nothing, add).reduce_with(merge).unwrap_or_default()
    }

    /// Scans the entries row by row, a range of rows on each thread.
    fn of_sparse(sparse: &Sparse<'_>, which: &[usize], weights: Weights<'_>, limit: usize) -> Vec<Self> {
        let n_rows = sparse.n_rows();
        let places = places(which, sparse.n_features());
        let per_thread = n_rows.div_ceil(rayon::current_num_threads().max(1)).max(1);
        let starts: Vec<usize> = (0..n_rows).step_by(per_thread).collect();
        let of_rows = |&start: &usize| {
            let mut all: Vec<Entries> = which.iter().map(|_| Entries::nothing(limit)).collect();
            for row in start..n_rows.min(start + per_thread) {
                let counts = weights.counts(row);
                for (place, value) in sparse.row(row).filter_map(|(feature, value)| Some((places[feature]?, value))) {
                    all[place].add(value, counts);
                }
            }
            all
        };
        let merge = |a: Vec<Entries>, b: Vec<Entries>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
        let all = starts.par_iter().map(of_rows).reduce_with(merge).unwrap_or_default();
        let counted = weights.tally(0..n_rows).rows;
        let finish = |Entries { mut seen, stored, counted: own, .. }: Entries| {
            match sparse.absent() {
                Absent::Missing => seen.missing |= stored < n_rows,
                Absent::Zero if own < counted => seen.insert([0.0].into_iter()),
                Absent::Zero => {}
            }
            seen
        };
        all.into_iter().map(finish).collect()
    }

    pub(super) fn nothing(limit: usize) -> Self {
        Self { missing: false, distinct: Some(Distinct::new(limit)) }
    }

    /// Adds values with their row indices.
    pub(super) fn add(&mut self, values: &[f32], rows: impl Iterator<Item = usize>, weights: Weights<'_>) {
        // No early exit: without a branch the compiler vectorizes the loop.
        self.missing |= values.iter().fold(false, |any, value| any | value.is_nan());
        if weights.are_equal() {
            self.insert(values.iter().copied());
        } else {
            self.insert(
                values.iter().copied().zip(rows).filter(|&(_, row)| weights.counts(row)).map(|(value, _)| value),
            );
        }
    }

    fn insert(&mut self, values: impl Iterator<Item = f32>) {
        let Some(distinct) = &mut self.distinct else { return };
        if !values.filter(|value| !value.is_nan()).all(|value| distinct.insert(value)) {
            self.distinct = None;
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.missing |= other.missing;
        match other.distinct {
            Some(distinct) => self.insert(distinct.values()),
            None => self.distinct = None,
        }
        self
    }

    /// Returns whether a value is missing, and the distinct values if they are within the limit, in arbitrary order.
    pub(super) fn parts(&self) -> (bool, Option<Vec<f32>>) {
        (self.missing, self.distinct.as_ref().map(|distinct| distinct.values().collect()))
    }

    /// Adds the parts of another worker's rows.
    pub(super) fn add_parts(&mut self, missing: bool, distinct: Option<Vec<f32>>) {
        self.missing |= missing;
        match distinct {
            Some(values) => self.insert(values.into_iter()),
            None => self.distinct = None,
        }
    }

    /// Returns the distinct values in ascending order if there are at most `limit`.
    pub(super) fn few(self, limit: usize) -> Option<Vec<f32>> {
        self.distinct.map(Distinct::into_sorted).filter(|values| values.len() <= limit)
    }
}

/// Entries of a sparse feature.
struct Entries {
    seen: Seen,
    stored: usize,
    /// Entries in rows of nonzero weight.
    counted: usize,
    /// The latest value: most columns of a one-hot table have a single one.
    latest: f32,
}

impl Entries {
    fn nothing(limit: usize) -> Self {
        Self { seen: Seen::nothing(limit), stored: 0, counted: 0, latest: f32::NAN }
    }

    fn add(&mut self, value: f32, counts: bool) {
        self.stored += 1;
        self.counted += usize::from(counts);
        self.seen.missing |= value.is_nan();
        if counts && value != self.latest {
            self.latest = value;
            self.seen.insert([value].into_iter());
        }
    }

    fn merge(self, other: Self) -> Self {
        let (stored, counted) = (self.stored + other.stored, self.counted + other.counted);
        Self { seen: self.seen.merge(other.seen), stored, counted, latest: f32::NAN }
    }
}
