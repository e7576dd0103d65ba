//! Codes of a numeric feature: the number of the model's thresholds below a value.

use bitgrain_kernels::Backend;
use bitgrain_kernels::bins::Cuts;

use super::columns::NONE;
use super::question::{is_known, is_zero, rounded, rounded_down};

/// Maximum number of thresholds per column of one-byte codes. Features with more thresholds get several columns.
pub(super) const MAX_CUTS: usize = 255;

/// Some thresholds of a feature, and the columns of their codes.
#[derive(Debug, Clone)]
pub(super) struct Numbers {
    /// Thresholds, strictly ascending.
    cuts: Vec<f64>,
    /// Search among f32 values.
    single: Search,
    /// Search among f64 values.
    double: Search,
    /// Whether zero counts as missing.
    pub(super) zero_is_missing: bool,
    /// Known codes of a categorical feature whose codes are compared as numbers; all other values are missing.
    known: Option<Vec<u32>>,
    /// Column in which missing values have code 0, so that they go left at every split; [`NONE`] if no split needs it.
    pub(super) left: u32,
    /// Column in which missing values have the last code and go right; [`NONE`] if no split needs it.
    pub(super) right: u32,
}

/// Thresholds rounded to f32, for the vectorized search.
#[derive(Debug, Clone)]
struct Search {
    cuts: Cuts<Vec<f32>>,
    /// Number of thresholds below the values of each bin, if several thresholds round to the same f32.
    counts: Option<Vec<u8>>,
}

impl Search {
    /// Creates a search. `to_f32` must be monotonic but may map two thresholds to the same f32.
    fn new(thresholds: &[f64], to_f32: impl Fn(f64) -> f32) -> Self {
        let mut cuts: Vec<f32> = thresholds.iter().map(|&threshold| to_f32(threshold)).collect();
        let singles = cuts.clone();
        cuts.dedup_by(|a, b| a == b);
        let count = |bin: usize| match cuts.get(bin) {
            Some(cut) => code(singles.partition_point(|single| single < cut)),
            None => code(singles.len()),
        };
        let counts = (cuts.len() < thresholds.len()).then(|| (0..=cuts.len()).map(count).collect());
        let cuts = Cuts::new(cuts).unwrap_or_else(|error| unreachable!("thresholds are sorted and not NaN: {error}"));
        Self { cuts, counts }
    }

    /// Counts the thresholds below each value, as far as f32 can tell. NaN gets `nan`.
    fn find(&self, backend: Backend, values: &[f32], nan: u8, out: &mut [u8]) {
        let found = self.cuts.bin(backend, values, nan, out);
        found.unwrap_or_else(|error| unreachable!("there is one code per value: {error}"));
        if let Some(counts) = &self.counts {
            for (out, _) in out.iter_mut().zip(values).filter(|(_, value)| !value.is_nan()) {
                *out = counts[usize::from(*out)];
            }
        }
    }
}

impl Numbers {
    /// Creates codes from at most [`MAX_CUTS`] ascending thresholds.
    pub(super) fn new(cuts: Vec<f64>, zero_is_missing: bool, known: Option<Vec<u32>>) -> Self {
        let (single, double) = (Search::new(&cuts, rounded_down), Search::new(&cuts, rounded));
        Self { cuts, single, double, zero_is_missing, known, left: NONE, right: NONE }
    }

    /// Returns the code that a threshold splits after: values up to the threshold have at most this code.
    pub(super) fn code_of(&self, threshold: f64) -> Option<u8> {
        self.cuts.binary_search_by(|cut| cut.partial_cmp(&threshold).unwrap_or(std::cmp::Ordering::Less)).ok().map(code)
    }

    /// Encodes f32 values. `write` receives a column and its codes.
    pub(super) fn code_f32(
        &self,
        backend: Backend,
        values: &mut [f32],
        codes: &mut [u8],
        mut write: impl FnMut(u32, &[u8]),
    ) {
        if self.zero_is_missing {
            values.iter_mut().filter(|value| is_zero(f64::from(**value))).for_each(|value| *value = f32::NAN);
        }
        if let Some(known) = &self.known {
            values.iter_mut().filter(|value| !is_known(known, f64::from(**value))).for_each(|value| *value = f32::NAN);
        }
        self.single.find(backend, values, self.missing_code(), codes);
        self.write(values.iter().map(|value| value.is_nan()), codes, &mut write);
    }

    /// Encodes f64 values. `singles` is a buffer of the same length for the rounded values.
    pub(super) fn code_f64(
        &self,
        backend: Backend,
        values: &mut [f64],
        singles: &mut [f32],
        codes: &mut [u8],
        mut write: impl FnMut(u32, &[u8]),
    ) {
        if self.zero_is_missing {
            values.iter_mut().filter(|value| is_zero(**value)).for_each(|value| *value = f64::NAN);
        }
        if let Some(known) = &self.known {
            values.iter_mut().filter(|value| !is_known(known, **value)).for_each(|value| *value = f64::NAN);
        }
        singles.iter_mut().zip(&*values).for_each(|(single, &value)| *single = rounded(value));
        self.double.find(backend, singles, self.missing_code(), codes);
        // Rounding is monotonic: only thresholds that round to the same f32 as the value remain to be compared.
        for (found, &value) in codes.iter_mut().zip(&*values) {
            while !value.is_nan() && self.cuts.get(usize::from(*found)).is_some_and(|&cut| cut < value) {
                *found += 1;
            }
        }
        self.write(values.iter().map(|value| value.is_nan()), codes, &mut write);
    }

    /// Code of missing values in the first column written.
    fn missing_code(&self) -> u8 {
        if self.left == NONE { code(self.cuts.len()) } else { 0 }
    }

    fn write(&self, missing: impl Iterator<Item = bool>, codes: &mut [u8], write: &mut impl FnMut(u32, &[u8])) {
        if self.left != NONE {
            write(self.left, codes);
        }
        if self.right != NONE {
            if self.left != NONE {
                let last = code(self.cuts.len());
                codes.iter_mut().zip(missing).filter(|(_, missing)| *missing).for_each(|(code, _)| *code = last);
            }
            write(self.right, codes);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "counts are at most `MAX_CUTS`")]
fn code(count: usize) -> u8 {
    count as u8
}
