//! Frequencies of the categories of a feature.

use std::collections::HashMap;

use rayon::prelude::*;

use super::categories::code;
use super::input::Matrix;
use super::source::places;
use super::sparse::Sparse;
use super::tile::blocks;
use super::weights::{Tally, Weights};
use super::{Absent, Features};

/// Total row weight of each category, and the first value that is not a category code.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    /// Weights of codes below [`TABLE`], by code.
    table: Vec<f64>,
    /// Weights of larger codes.
    others: HashMap<u32, f64>,
    invalid: Option<(usize, f32)>,
}

/// Number of codes in the lookup table, which takes up to 512 KiB.
const TABLE: usize = 1 << 16;

/// Features counted together: their f32 values fill one cache line of a row.
const GROUP: usize = 16;

impl Frequencies {
    /// Counts the categories of the given features over all rows. Each sum is taken in row order, so that it does not
    /// depend on the number of threads.
    pub(super) fn of(features: &Features<'_>, which: &[usize], weights: Weights<'_>) -> Vec<Self> {
        let n_rows = features.n_rows();
        match features.matrix() {
            Matrix::Dense(dense) => {
                let of_group = |group: &[usize]| {
                    let mut counted: Vec<Self> = group.iter().map(|_| Self::default()).collect();
                    for rows in blocks(n_rows, group.len()) {
                        dense.for_each_piece(group, rows, |at, rows, values| {
                            rows.zip(values).for_each(|(row, &v)| counted[at].add(row, v, weights.of(row).into()));
                        });
                    }
                    counted
                };
                which.par_chunks(GROUP).flat_map_iter(of_group).collect()
            }
            Matrix::Sparse(sparse) => {
                let all = weights.tally(0..n_rows);
                let places = places(which, features.n_features());
                let entries = sparse.by_feature(which.len(), |feature| places[feature], 0..n_rows);
                let of_feature = |at| Self::of_sparse(sparse, entries.entries(at), weights, all);
                (0..which.len()).into_par_iter().map(of_feature).collect()
            }
        }
    }

    fn of_sparse(sparse: &Sparse<'_>, (rows, values): (&[u32], &[f32]), weights: Weights<'_>, all: Tally) -> Self {
        let mut counted = Self::default();
        let rows = rows.iter().map(|&row| row as usize);
        rows.clone().zip(values).for_each(|(row, &value)| counted.add(row, value, weights.of(row).into()));
        let absent = all.without(weights.tally(rows));
        if sparse.absent() == Absent::Zero && absent.rows > 0 {
            *counted.of_code(0) += absent.weight;
        }
        counted
    }

    /// Takes the weight of each code.
    pub(super) fn of_weights(weights: impl Iterator<Item = f64>) -> Self {
        let mut counted = Self::default();
        (0..).zip(weights).filter(|(_, weight)| *weight > 0.0).for_each(|(code, w)| *counted.of_code(code) = w);
        counted
    }

    /// Counts a value. NaN and negative values are missing and are not counted.
    pub(super) fn add(&mut self, row: usize, value: f32, weight: f64) {
        match code(value) {
            Some(code) if weight > 0.0 => *self.of_code(code) += weight,
            None if value >= 0.0 && self.invalid.is_none() => self.invalid = Some((row, value)),
            _ => {}
        }
    }

    fn of_code(&mut self, code: u32) -> &mut f64 {
        let at = code as usize;
        if at >= TABLE {
            return self.others.entry(code).or_default();
        }
        if at >= self.table.len() {
            self.table.resize((at + 1).next_power_of_two(), 0.0);
        }
        &mut self.table[at]
    }

    /// Returns the codes with their weights, ascending.
    pub(super) fn entries(&self) -> Vec<(u32, f64)> {
        let table = (0..).zip(self.table.iter().copied()).filter(|entry| entry.1 > 0.0);
        let mut entries: Vec<(u32, f64)> =
            table.chain(self.others.iter().map(|(code, weight)| (*code, *weight))).collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        entries
    }

    /// Adds the weight of a code on another worker.
    pub(super) fn add_weight(&mut self, code: u32, weight: f64) {
        *self.of_code(code) += weight;
    }

    /// Returns the first row whose value is not a category code, with the value.
    pub(super) fn invalid(&self) -> Option<(usize, f32)> {
        self.invalid
    }

    /// Returns the ascending codes of the `limit` heaviest categories. Ties go to the smaller code.
    pub(super) fn most_frequent(self, limit: usize) -> Vec<u32> {
        let table = (0..).zip(self.table).filter(|entry| entry.1 > 0.0);
        let mut seen: Vec<(u32, f64)> = table.chain(self.others).collect();
        if seen.len() > limit {
            seen.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            seen.truncate(limit);
        }
        let mut codes: Vec<u32> = seen.into_iter().map(|entry| entry.0).collect();
        codes.sort_unstable();
        codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_are_kept_and_of_equals_the_smaller_codes() {
        let of = |limit| {
            let mut counted = Frequencies::default();
            let rows = [(70_000.0, 1.0), (5.0, 1.0), (9.0, 0.5), (9.0, 1.0), (2.0, 1.0), (3.0, 0.0), (f32::NAN, 9.0)];
            rows.into_iter().enumerate().for_each(|(row, (value, weight))| counted.add(row, value, weight));
            counted.most_frequent(limit)
        };
        assert_eq!([1, 2, 3, 4, 5].map(of), [vec![9], vec![2, 9], vec![2, 5, 9], vec![2, 5, 9, 70_000], of(4)]);
    }

    #[test]
    fn the_first_invalid_value_is_kept_whatever_its_weight() {
        let mut counted = Frequencies::default();
        counted.add(3, f32::NAN, 1.0);
        counted.add(3, -1.0, 1.0);
        counted.add(4, 0.5, 0.0);
        counted.add(5, 1.5, 1.0);
        assert_eq!(counted.invalid(), Some((4, 0.5)));
    }
}
