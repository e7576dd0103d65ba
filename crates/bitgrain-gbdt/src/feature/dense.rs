//! Dense matrix of raw values, row-major or column-major.

use std::borrow::Cow;
use std::ops::Range;

use super::transpose::{transpose, transpose_some};

/// Borrowed values of a matrix.
#[derive(Debug, Clone, Copy)]
pub enum Values<'a> {
    /// Single precision, binned without rounding.
    F32(&'a [f32]),
    /// Double precision: compared as the nearest f32, unless f32 would merge too many values of a feature.
    F64(&'a [f64]),
}

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::F32(values)
    }
}

impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}

/// Memory order of a dense matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Row-major, with this number of features per row.
    Rows(usize),
    /// Column-major, with this number of rows per column.
    Columns(usize),
}

/// Borrowed dense matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dense<'a> {
    pub(super) values: Values<'a>,
    pub(super) order: Order,
}

/// Rows and features copied together when the values are not f32 columns: small enough for the L2 cache, with enough
/// rows to amortize the setup of a search among cuts.
const ROWS: usize = 2048;
const FEATURES: usize = 32;

impl<'a> Dense<'a> {
    #[inline]
    pub(super) fn value(&self, row: usize, feature: usize) -> f32 {
        let at = self.position(row, feature);
        match self.values {
            Values::F32(values) => values[at],
            Values::F64(values) => rounded(values[at]),
        }
    }

    /// Returns a value without rounding.
    #[inline]
    pub(super) fn value_f64(&self, row: usize, feature: usize) -> f64 {
        let at = self.position(row, feature);
        match self.values {
            Values::F32(values) => f64::from(values[at]),
            Values::F64(values) => values[at],
        }
    }

    pub(super) fn is_f64(&self) -> bool {
        matches!(self.values, Values::F64(_))
    }

    #[inline]
    fn position(&self, row: usize, feature: usize) -> usize {
        match self.order {
            Order::Rows(n_features) => row * n_features + feature,
            Order::Columns(n_rows) => feature * n_rows + row,
        }
    }

    /// Returns a range of rows of a feature, borrowed if they are contiguous f32 values, copied otherwise.
    pub(super) fn column(&self, feature: usize, rows: Range<usize>) -> Cow<'a, [f32]> {
        if let Some(column) = self.in_place(feature, rows.clone()) {
            return Cow::Borrowed(column);
        }
        let mut column = vec![0.0; rows.len()];
        self.copy(&[feature], rows, &mut column);
        Cow::Owned(column)
    }

    /// Visits a block of values in pieces: position in `features`, range of rows, values.
    pub(super) fn for_each_piece(
        &self,
        features: &[usize],
        rows: Range<usize>,
        mut visit: impl FnMut(usize, Range<usize>, &[f32]),
    ) {
        if self.in_place(0, 0..0).is_some() {
            for (at, &feature) in features.iter().enumerate() {
                visit(at, rows.clone(), &self.column(feature, rows.clone()));
            }
            return;
        }
        let mut buffer = Vec::new();
        for start in rows.clone().step_by(ROWS) {
            let piece = start..rows.end.min(start + ROWS);
            for (group_at, group) in features.chunks(FEATURES).enumerate() {
                buffer.resize(group.len() * piece.len(), 0.0);
                self.copy(group, piece.clone(), &mut buffer);
                for (at, column) in buffer.chunks_exact(piece.len()).enumerate() {
                    visit(group_at * FEATURES + at, piece.clone(), column);
                }
            }
        }
    }

    /// Returns the values of the given features and rows in column-major order.
    pub(super) fn sampled(&self, features: &[usize], rows: &[usize]) -> Vec<f32> {
        let mut columns = vec![0.0; features.len() * rows.len()];
        match (self.order, self.values) {
            (Order::Rows(stride), Values::F32(values)) => {
                transpose_some(values, stride, rows, features.iter().copied(), &mut columns, |v| v);
            }
            (Order::Rows(stride), Values::F64(values)) => {
                transpose_some(values, stride, rows, features.iter().copied(), &mut columns, rounded);
            }
            (Order::Columns(_), _) => {
                for (column, &feature) in columns.chunks_exact_mut(rows.len()).zip(features) {
                    column.iter_mut().zip(rows).for_each(|(out, &row)| *out = self.value(row, feature));
                }
            }
        }
        columns
    }

    /// Returns the values without copying if they are contiguous f32 values.
    fn in_place(&self, feature: usize, rows: Range<usize>) -> Option<&'a [f32]> {
        match (self.values, self.order) {
            (Values::F32(values), Order::Columns(n_rows)) => Some(&values[feature * n_rows..][rows]),
            _ => None,
        }
    }

    /// Copies a block of values in column-major order.
    fn copy(&self, features: &[usize], rows: Range<usize>, out: &mut [f32]) {
        match (self.order, self.values) {
            (Order::Rows(stride), Values::F32(values)) => {
                transpose(values, stride, rows, features.iter().copied(), out, |value| value);
            }
            (Order::Rows(stride), Values::F64(values)) => {
                transpose(values, stride, rows, features.iter().copied(), out, rounded);
            }
            (Order::Columns(n_rows), Values::F32(values)) => {
                for (at, &feature) in features.iter().enumerate() {
                    out[at * rows.len()..][..rows.len()].copy_from_slice(&values[feature * n_rows..][rows.clone()]);
                }
            }
            (Order::Columns(n_rows), Values::F64(values)) => {
                for (at, &feature) in features.iter().enumerate() {
                    let values = &values[feature * n_rows..][rows.clone()];
                    out[at * rows.len()..].iter_mut().zip(values).for_each(|(out, &value)| *out = rounded(value));
                }
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the binning rule rounds to the nearest f32")]
fn rounded(value: f64) -> f32 {
    value as f32
}
