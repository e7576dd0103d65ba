//! First pass over a numeric feature: whether it has missing values, and its distinct values if they are few.

use std::ops::Range;

use rayon::prelude::*;

use super::dense::Dense;
use super::distinct::Distinct;
use super::input::Matrix;
use super::sparse::Sparse;
use super::tile::blocks;
use super::weights::{Tally, Weights};
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
            Matrix::Sparse(sparse) => {
                let all = weights.tally(0..features.n_rows());
                which.par_iter().map(|&feature| Self::of_sparse(sparse, feature, weights, all, limit)).collect()
            }
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

    fn of_sparse(sparse: &Sparse<'_>, feature: usize, weights: Weights<'_>, all: Tally, limit: usize) -> Self {
        let mut seen = Self::nothing(limit);
        let (rows, values) = sparse.entries(feature, 0..sparse.n_rows());
        seen.add(values, rows.iter().map(|&row| row as usize), weights);
        let absent = sparse.n_rows() > rows.len();
        match sparse.absent() {
            Absent::Missing => seen.missing |= absent,
            Absent::Zero => {
                let counted = rows.iter().filter(|&&row| weights.counts(row as usize)).count();
                if counted < all.rows {
                    seen.insert([0.0].into_iter());
                }
            }
        }
        seen
    }

    fn nothing(limit: usize) -> Self {
        Self { missing: false, distinct: Some(Distinct::new(limit)) }
    }

    /// Adds values with their row indices.
    fn add(&mut self, values: &[f32], rows: impl Iterator<Item = usize>, weights: Weights<'_>) {
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

    /// Returns the distinct values in ascending order if there are at most `limit`.
    pub(super) fn few(self, limit: usize) -> Option<Vec<f32>> {
        self.distinct.map(Distinct::into_sorted).filter(|values| values.len() <= limit)
    }
}
