//! Stratified, seeded sample of rows: one row from each of equal ranges, so that the order of the data does not bias
//! it.

use rayon::prelude::*;

use super::input::Matrix;
use super::quantile::{Weighted, cuts};
use super::rank::rank_cuts;
use super::sorted::{insert, sorted, sorted_keys, sorted_with_weights};
use super::source::places;
use super::weights::{Tally, Weights};
use super::{Absent, Features};
use crate::random::mixed;

/// Features sampled together. A larger group needs fewer passes over the rows but proportionally more memory.
const GROUP: usize = 4;

/// Rows that quantiles are computed from, chosen among the rows with nonzero weight.
pub(super) struct Sample<'a> {
    features: &'a Features<'a>,
    weights: Weights<'a>,
    /// Ascending row indices.
    rows: Vec<usize>,
}

impl<'a> Sample<'a> {
    pub(super) fn new(features: &'a Features<'a>, weights: Weights<'a>, count: usize, seed: u64) -> Self {
        Self { features, weights, rows: sampled_rows(features.n_rows(), weights, count, seed) }
    }

    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the cuts of the given features; `bins` is the number of value bins of each.
    pub(super) fn cuts(&self, which: &[usize], bins: impl Fn(usize) -> usize + Sync) -> Vec<Vec<f32>> {
        match self.features.matrix() {
            Matrix::Dense(dense) => {
                let of_group = |group: &[usize]| -> Vec<Vec<f32>> {
                    let values = dense.sampled(group, &self.rows);
                    let columns = group.par_iter().zip(values.par_chunks_exact(self.rows.len()));
                    columns.map(|(&feature, values)| self.dense_cuts(values, bins(feature))).collect()
                };
                which.par_chunks(GROUP).flat_map_iter(of_group).collect()
            }
            Matrix::Sparse(sparse) => {
                let all = self.weights.tally(self.rows.iter().copied());
                let places = places(which, self.features.n_features());
                let rows = self.rows.iter().copied();
                let entries = sparse.by_feature(which.len(), |feature| places[feature], rows);
                let values = |at| self.sparse_values(sparse.absent(), entries.entries(at), all);
                which.par_iter().enumerate().map(|(at, &feature)| cuts(&values(at), bins(feature))).collect()
            }
        }
    }

    fn dense_cuts(&self, values: &[f32], bins: usize) -> Vec<f32> {
        sampled_cuts(values, &self.rows, self.weights, bins)
    }

    /// Returns the stored values, plus a zero that stands for all absent values.
    fn sparse_values(&self, absent: Absent, (rows, values): (&[u32], &[f32]), all: Tally) -> Vec<Weighted> {
        let rows: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let mut weighted = self.weighted(values, &rows);
        let others = all.without(self.weights.tally(rows.into_iter()));
        if absent == Absent::Zero && others.rows > 0 {
            insert(&mut weighted, Weighted { value: 0.0, weight: others.weight });
        }
        weighted
    }

    fn weighted(&self, values: &[f32], rows: &[usize]) -> Vec<Weighted> {
        if self.weights.are_equal() {
            return sorted(values);
        }
        sorted_with_weights(values, rows.iter().map(|&row| self.weights.of(row)))
    }
}

/// Returns the rows of the sample, ascending: `count` of the rows with a nonzero weight.
pub(super) fn sampled_rows(n_rows: usize, weights: Weights<'_>, count: usize, seed: u64) -> Vec<usize> {
    if weights.are_equal() {
        return sample(n_rows, count, seed);
    }
    let counted: Vec<usize> = (0..n_rows).filter(|&row| weights.counts(row)).collect();
    sample(counted.len(), count, seed).into_iter().map(|at| counted[at]).collect()
}

/// Returns the cuts of a dense feature from its values in the rows of the sample.
pub(super) fn sampled_cuts(values: &[f32], rows: &[usize], weights: Weights<'_>, bins: usize) -> Vec<f32> {
    if weights.are_equal() {
        return rank_cuts(&sorted_keys(values), bins);
    }
    cuts(&sorted_with_weights(values, rows.iter().map(|&row| weights.of(row))), bins)
}

/// Returns `count` distinct rows in ascending order, or all rows if there are no more.
pub(super) fn sample(n_rows: usize, count: usize, seed: u64) -> Vec<usize> {
    if count >= n_rows {
        return (0..n_rows).collect();
    }
    let start = |stretch: usize| narrow(stretch as u128 * n_rows as u128 / count as u128);
    let one_of = |stretch: usize| {
        let (first, end) = (start(stretch), start(stretch + 1));
        let random = mixed(seed ^ mixed(stretch as u64));
        first + narrow((u128::from(random) * (end - first) as u128) >> 64)
    };
    (0..count).map(one_of).collect()
}

/// Narrows a row index, which is below `n_rows` after the division.
fn narrow(row: u128) -> usize {
    row as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_all_rows_is_all_rows() {
        assert!(sample(1000, 1000, 7).into_iter().eq(0..1000));
        assert!(sample(1000, usize::MAX, 7).into_iter().eq(0..1000));
    }

    #[test]
    fn sampled_rows_ascend() {
        for seed in 0..50 {
            let rows = sample(1003, 100, seed);
            assert_eq!(rows.len(), 100);
            assert!(rows.is_sorted_by(|a, b| a < b) && rows[99] < 1003);
        }
    }

    #[test]
    fn every_row_is_drawn_about_as_often_as_any_other() {
        let mut drawn = [0; 30];
        for seed in 0..3000 {
            sample(30, 10, seed).into_iter().for_each(|row| drawn[row] += 1);
        }
        assert!(drawn.iter().all(|&times| (850..1150).contains(&times)), "{drawn:?}");
    }
}
