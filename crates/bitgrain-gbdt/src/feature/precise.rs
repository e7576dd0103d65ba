//! f64 cuts, for features whose values f32 would merge: identifiers near 10^9, timestamps in milliseconds.

use std::collections::HashSet;

use rayon::prelude::*;

use super::dense::Dense;
use super::quantile::{cut_places, share};
use super::weights::Weights;

/// Maximum number of values that are sampled to detect merging.
const PROBES: usize = 4096;

/// Minimum number of sampled values that must round to one f32 before merging is assumed; fewer may be coincidence.
const MERGED: usize = 3;

/// Returns the features that need f64: features with only integer values of which some are not exact in f32, and
/// features of which one f32 stands for different values that make up at least half a bin. For other features, f32
/// moves a cut by at most a rounding error.
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

/// Precision of the finite values of a feature.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Digits {
    /// Whether any value is not exact in f32.
    pub(super) rounds: bool,
    /// Whether any value is not an integer.
    pub(super) fractions: bool,
}

impl Digits {
    /// Rows scanned together: they stay in cache while one feature after another is scanned.
    const ROWS: usize = 1024;

    pub(super) fn of(dense: &Dense<'_>, features: &[usize], n_rows: usize) -> Vec<Self> {
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

/// Returns whether one f32 stands for different values that make up at least half a bin.
fn merges(dense: &Dense<'_>, feature: usize, n_rows: usize, bins: usize) -> bool {
    merges_probe(probed(n_rows).map(|row| dense.value_f64(row, feature)).collect(), bins)
}

/// Returns the rows whose values tell whether f32 merges values.
pub(super) fn probed(n_rows: usize) -> impl Iterator<Item = usize> {
    (0..n_rows).step_by(n_rows.div_ceil(PROBES).max(1))
}

/// Returns whether one f32 stands for different values of the probed rows that make up at least half a bin.
#[expect(clippy::cast_precision_loss, reason = "at most `PROBES` values")]
pub(super) fn merges_probe(mut probe: Vec<f64>, bins: usize) -> bool {
    probe.retain(|value| value.is_finite());
    probe.sort_unstable_by(f64::total_cmp);
    let heavy = share(probe.len() as f64, 2 * bins).max(MERGED as f64);
    let is_merged = |run: &[f64]| run.len() as f64 >= heavy && run[0] != run[run.len() - 1];
    probe.chunk_by(|a, b| rounded(*a) == rounded(*b)).any(is_merged)
}

/// Returns the cuts of at most `bins` value bins: one bin per distinct value of all rows if they fit, else bins of
/// about equal weight from the sampled rows.
pub(super) fn precise_cuts(
    dense: &Dense<'_>,
    feature: usize,
    (n_rows, sample): (usize, &[usize]),
    weights: Weights<'_>,
    bins: usize,
) -> Vec<f64> {
    let value = |row: usize| dense.value_f64(row, feature) + 0.0; // -0 + 0 is +0
    if let Some(values) = few((0..n_rows).filter(|&row| weights.counts(row)).map(value), bins) {
        return between_f64(&values);
    }
    quantiles_f64(sample.iter().map(|&row| (value(row), weights.of(row))).collect(), bins)
}

/// Returns one bin per value of an ascending list.
pub(super) fn between_f64(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect()
}

/// Returns the cuts of at most `bins` bins of about equal weight between values with their weights.
pub(super) fn quantiles_f64(mut rows: Vec<(f64, f32)>, bins: usize) -> Vec<f64> {
    rows.retain(|(value, _)| !value.is_nan());
    // Sort by weight, too: the sum of a run then does not depend on the order of equal values.
    rows.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let runs: Vec<&[(f64, f32)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
    let weights: Vec<f64> = runs.iter().map(|run| run.iter().map(|row| f64::from(row.1)).sum()).collect();
    cut_places(&weights, bins).into_iter().map(|at| midpoint(runs[at][0].0, runs[at + 1][0].0)).collect()
}

/// Returns the distinct values in ascending order, or `None` if there are more than `limit`.
pub(super) fn few(values: impl Iterator<Item = f64>, limit: usize) -> Option<Vec<f64>> {
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

/// Returns a cut with `low <= cut < high`: the midpoint, but finite if a neighbor is an infinity.
fn midpoint(low: f64, high: f64) -> f64 {
    if high == f64::INFINITY {
        return f64::MAX;
    }
    let middle = f64::midpoint(low, high);
    if middle < high && middle >= low { middle } else { low }
}

#[expect(clippy::cast_possible_truncation, reason = "the rounding is what is tested")]
fn rounded(value: f64) -> f32 {
    value as f32
}
