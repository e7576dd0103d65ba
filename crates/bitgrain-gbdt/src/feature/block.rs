//! Reads blocks of raw values in column-major order, the input of prediction.

use std::ops::Range;

use super::dense::Dense;
use super::input::Matrix;
use super::sparse::{ByFeature, Sparse};
use super::{Absent, Features};

/// Rows of a block that are read together: few enough that their cache lines stay in L1 while every feature is read.
const STRIP: usize = 16;

impl Features<'_> {
    /// Returns whether the values are f64, so that reading them as f32 would round.
    pub(crate) fn is_f64(&self) -> bool {
        matches!(self.matrix(), Matrix::Dense(dense) if dense.is_f64())
    }

    /// Reads a block of values, rounded to the nearest f32. Column `i` of the block starts at `out[i * stride]`.
    pub(crate) fn read_f32(&self, features: Range<usize>, rows: Range<usize>, out: &mut [f32], stride: usize) {
        match self.matrix() {
            Matrix::Dense(dense) => read(features, rows, out, stride, |row, feature| dense.value(row, feature)),
            Matrix::Sparse(sparse) => scatter(sparse, features, rows, out, stride),
        }
    }

    /// Reads a block of values without rounding; see [`read_f32`](Self::read_f32).
    pub(crate) fn read_f64(&self, features: Range<usize>, rows: Range<usize>, out: &mut [f64], stride: usize) {
        match self.matrix() {
            Matrix::Dense(dense) => read(features, rows, out, stride, |row, feature| dense.value_f64(row, feature)),
            Matrix::Sparse(sparse) => scatter(sparse, features, rows, out, stride),
        }
    }

    /// Returns the entries of some features of a sparse matrix, and the value of absent ones; `None` if it is dense.
    /// `place` returns the position of a feature among the `count` features, if it is one of them.
    pub(crate) fn entries(
        &self,
        rows: Range<usize>,
        count: usize,
        place: impl Fn(usize) -> Option<usize>,
    ) -> Option<(ByFeature, f32)> {
        let Matrix::Sparse(sparse) = self.matrix() else { return None };
        Some((sparse.by_feature(count, place, rows), sparse.absent().value()))
    }

    /// Calls `visit` with the row and feature of each missing value, and returns true, if only a pass over the entries of
    /// a sparse matrix is needed to find them.
    pub(crate) fn missing_entries(&self, mut visit: impl FnMut(usize, usize)) -> bool {
        let Matrix::Sparse(sparse) = self.matrix() else { return false };
        if sparse.absent() == Absent::Missing {
            return false;
        }
        for row in 0..self.n_rows() {
            sparse.row(row).filter(|(_, value)| value.is_nan()).for_each(|(feature, _)| visit(row, feature));
        }
        true
    }

    /// Reads the values of one row without rounding.
    pub(crate) fn read_row(&self, row: usize, out: &mut [f64]) {
        match self.matrix() {
            Matrix::Dense(dense) => fill(dense, row, out),
            Matrix::Sparse(sparse) => scatter(sparse, 0..out.len(), row..row + 1, out, 1),
        }
    }
}

fn fill(dense: &Dense<'_>, row: usize, out: &mut [f64]) {
    out.iter_mut().enumerate().for_each(|(feature, out)| *out = dense.value_f64(row, feature));
}

#[inline]
fn read<T>(
    features: Range<usize>,
    rows: Range<usize>,
    out: &mut [T],
    stride: usize,
    value: impl Fn(usize, usize) -> T,
) {
    for first in rows.clone().step_by(STRIP) {
        let strip = first..rows.end.min(first + STRIP);
        for (column, feature) in features.clone().enumerate() {
            let out = &mut out[column * stride + first - rows.start..];
            for (out, row) in out.iter_mut().zip(strip.clone()) {
                *out = value(row, feature);
            }
        }
    }
}

/// Fills the block with the absent value, then writes the entries over it.
fn scatter<T: From<f32> + Copy>(
    sparse: &Sparse<'_>,
    features: Range<usize>,
    rows: Range<usize>,
    out: &mut [T],
    stride: usize,
) {
    for column in 0..features.len() {
        out[column * stride..column * stride + rows.len()].fill(T::from(sparse.absent().value()));
    }
    for (place, row) in rows.enumerate() {
        for (feature, value) in sparse.row_part(row, &features) {
            out[(feature - features.start) * stride + place] = T::from(value);
        }
    }
}
