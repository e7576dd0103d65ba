//! Blocks of raw values, column after column: what predictions begin with.

use std::ops::Range;

use super::{Features, Values};

/// Rows of a block that are read together: few enough that their cache lines stay while each gives one value per
/// column.
const STRIP: usize = 16;

impl Features<'_> {
    /// Whether the values have more digits than an f32.
    pub(crate) fn is_f64(&self) -> bool {
        matches!(self.values(), Values::F64(_))
    }

    /// Values of some features in some rows, rounded to the nearest f32. Columns begin `stride` values after one
    /// another.
    pub(crate) fn read_f32(&self, features: Range<usize>, rows: Range<usize>, out: &mut [f32], stride: usize) {
        self.read(features, rows, out, stride, Self::value);
    }

    /// The same, as they are.
    pub(crate) fn read_f64(&self, features: Range<usize>, rows: Range<usize>, out: &mut [f64], stride: usize) {
        self.read(features, rows, out, stride, Self::value_f64);
    }

    /// The values of one row, as they are.
    pub(crate) fn read_row(&self, row: usize, out: &mut [f64]) {
        for (feature, out) in out.iter_mut().enumerate() {
            *out = self.value_f64(row, feature);
        }
    }

    #[inline]
    fn read<T>(
        &self,
        features: Range<usize>,
        rows: Range<usize>,
        out: &mut [T],
        stride: usize,
        value: impl Fn(&Self, usize, usize) -> T,
    ) {
        for first in rows.clone().step_by(STRIP) {
            let strip = first..rows.end.min(first + STRIP);
            for (column, feature) in features.clone().enumerate() {
                let out = &mut out[column * stride + first - rows.start..];
                for (out, row) in out.iter_mut().zip(strip.clone()) {
                    *out = value(self, row, feature);
                }
            }
        }
    }

    #[inline]
    fn value_f64(&self, row: usize, feature: usize) -> f64 {
        let at = self.position(row, feature);
        match self.values() {
            Values::F32(values) => f64::from(values[at]),
            Values::F64(values) => values[at],
        }
    }
}
