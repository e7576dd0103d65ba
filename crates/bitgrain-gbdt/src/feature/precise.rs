//! Cuts in f64, for features whose values f32 does not tell apart: identifiers near 10^9, timestamps in milliseconds.

use std::collections::HashSet;

use rayon::prelude::*;

use super::dense::Dense;
use super::quantile::{cut_places, share};
use super::weights::Weights;

/// Values that are looked at to find out whether rounding merges many.
const PROBES: usize = 4096;

/// Values of a probe that are one f32: as many as tell that it is no accident.
const MERGED: usize = 3;

/// Those of some features that need f64: all values of a feature are integers and some are not f32 numbers, or one f32
/// stands for several values of at least half a bin of rows. Of other features no cut would move by more than a rounding
/// error.
pub(super) fn in_need_of_f64(
    dense: &Dense<'_>,
    features: &[usize],
    n_rows: usize,
    bins: impl Fn(usize) -> usize,
) -> Vec<usize> {
    let digits = Digits::of(dense, features, n_rows);
    let needs = |(at, &feature): (usize, &usize)| {
        let Digits { rounds, fractions } = digits[at];
        (rounds && (!fractions || merges(dense, feature, n_rows, bins(feature)))).then_some(feature)
    };
    features.iter().enumerate().filter_map(needs).collect()
}

/// What the values of a feature have beside infinities and NaN.
#[derive(Debug, Clone, Copy, Default)]
struct Digits {
    /// Any that are not f32 numbers.
    rounds: bool,
    /// Any that are not integers.
    fractions: bool,
}

impl Digits {
    /// Rows that are looked at together: they stay in cache while one feature after another is.
    const ROWS: usize = 1024;

    fn of(dense: &Dense<'_>, features: &[usize], n_rows: usize) -> Vec<Self> {
        let starts: Vec<usize> = (0..n_rows).step_by(Self::ROWS).collect();
        let none = || vec![Self::default(); features.len()];
        let add = |mut digits: Vec<Self>, &start: &usize| {
            for (digits, &feature) in digits.iter_mut().zip(features).filter(|(d, _)| !(d.rounds && d.fractions)) {
                let rows = start..n_rows.min(start + Self::ROWS);
                for value in rows.map(|row| dense.value_f64(row, feature)).filter(|value| value.is_finite()) {
                    digits.rounds |= f64::from(rounded(value)) != value;
                    digits.fractions |= value.trunc() != value;
                }
            }
            digits
        };
        let both = |a: Self, b: Self| Self { rounds: a.rounds | b.rounds, fractions: a.fractions | b.fractions };
        let merge = |a: Vec<Self>, b: Vec<Self>| a.into_iter().zip(b).map(|(a, b)| both(a, b)).collect();
        starts.par_iter().fold(none, add).reduce(none, merge)
    }
}

/// Whether one f32 stands for several values of at least half a bin of rows.
#[expect(clippy::cast_precision_loss, reason = "few values")]
fn merges(dense: &Dense<'_>, feature: usize, n_rows: usize, bins: usize) -> bool {
    let rows = (0..n_rows).step_by(n_rows.div_ceil(PROBES).max(1));
    let mut probe: Vec<f64> = rows.map(|row| dense.value_f64(row, feature)).filter(|v| v.is_finite()).collect();
    probe.sort_unstable_by(f64::total_cmp);
    let heavy = share(probe.len() as f64, 2 * bins).max(MERGED as f64);
    let is_merged = |run: &[f64]| run.len() as f64 >= heavy && run[0] != run[run.len() - 1];
    probe.chunk_by(|a, b| rounded(*a) == rounded(*b)).any(is_merged)
}

/// The cuts of a feature of at most so many bins of values: one for each distinct value of all rows if they fit, else of
/// about equal weight, from a sample of rows.
pub(super) fn precise_cuts(
    dense: &Dense<'_>,
    feature: usize,
    (n_rows, sample): (usize, &[usize]),
    weights: Weights<'_>,
    bins: usize,
) -> Vec<f64> {
    let value = |row: usize| dense.value_f64(row, feature) + 0.0; // -0 + 0 is +0
    if let Some(values) = few((0..n_rows).filter(|&row| weights.counts(row)).map(value), bins) {
        return values.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect();
    }
    let rows = sample.iter().map(|&row| (value(row), weights.of(row))).filter(|(value, _)| !value.is_nan());
    let mut rows: Vec<(f64, f32)> = rows.collect();
    // By weight too, so that sums do not depend on the order of equal values.
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let runs: Vec<&[(f64, f32)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
    let weights: Vec<f64> = runs.iter().map(|run| run.iter().map(|row| f64::from(row.1)).sum()).collect();
    cut_places(&weights, bins).into_iter().map(|at| midpoint(runs[at][0].0, runs[at + 1][0].0)).collect()
}

/// The distinct values, ascending, if they are at most so many.
fn few(values: impl Iterator<Item = f64>, limit: usize) -> Option<Vec<f64>> {
    let mut seen = HashSet::new();
    for value in values.filter(|value| !value.is_nan()) {
        seen.insert(value.to_bits());
        if seen.len() > limit {
            return None;
        }
    }
    let mut values: Vec<f64> = seen.into_iter().map(f64::from_bits).collect();
    values.sort_unstable_by(f64::total_cmp);
    Some(values)
}

/// A cut between two values, `low <= cut < high`. Only an infinity is on the far side of a cut beside it.
fn midpoint(low: f64, high: f64) -> f64 {
    if high == f64::INFINITY {
        return f64::MAX;
    }
    let middle = f64::midpoint(low, high);
    if middle < high && middle >= low { middle } else { low }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is the question")]
fn rounded(value: f64) -> f32 {
    value as f32
}
