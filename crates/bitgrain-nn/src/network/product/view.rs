//! `View`: a borrowed f32 matrix with strides, possibly transposed.

use std::ops::Range;

use bitgrain_kernels::Backend;
use bitgrain_kernels::product::{FloatLine, STRIP_ROWS, pack_floats};

use super::WeightsError;

/// A borrowed matrix whose rows or columns are contiguous; transposing swaps the two.
///
/// ```
/// use bitgrain_nn::network::product::{View, multiply_views};
/// let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]; // 2 rows of 3
/// let a = View::new(&a, 2, 3)?;
/// let mut out = [0.0; 4];
/// multiply_views(a, a.transposed(), &mut out)?;
/// assert_eq!(out, [14.0, 32.0, 32.0, 77.0]);
/// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    data: &'a [f32],
    rows: usize,
    cols: usize,
    row_step: usize,
    col_step: usize,
}

impl<'a> View<'a> {
    /// Creates a view of contiguous rows of `cols` values.
    ///
    /// # Errors
    /// Returns [`WeightsError::Length`] if `data` does not have exactly `rows` × `cols` values.
    pub fn new(data: &'a [f32], rows: usize, cols: usize) -> Result<Self, WeightsError> {
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(WeightsError::Length { what: "matrix", found: data.len(), rows, cols });
        }
        Ok(Self { data, rows, cols, row_step: cols, col_step: 1 })
    }

    /// Creates a view of rows of `cols` values that start `row_step` values apart: some columns of a wider matrix.
    ///
    /// # Errors
    /// Returns [`WeightsError::Length`] if `data` ends before the last row, or rows overlap.
    pub fn strided(data: &'a [f32], rows: usize, cols: usize, row_step: usize) -> Result<Self, WeightsError> {
        let needed = match rows.checked_sub(1) {
            Some(before) => before.checked_mul(row_step).and_then(|start| start.checked_add(cols)),
            None => Some(0),
        };
        if row_step < cols || needed.is_none_or(|needed| needed > data.len()) {
            return Err(WeightsError::Length { what: "strided matrix", found: data.len(), rows, cols });
        }
        Ok(Self { data, rows, cols, row_step, col_step: 1 })
    }

    /// Returns the transposed view. No data is moved.
    #[must_use]
    pub const fn transposed(self) -> Self {
        Self { rows: self.cols, cols: self.rows, row_step: self.col_step, col_step: self.row_step, ..self }
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// Packs rows from `first` on into a tile: `width` interleaved values for each column. Values of missing
    /// rows are not written: the caller fills `out` with zeros.
    pub(super) fn pack_tile(&self, first: usize, width: usize, out: &mut [f32]) {
        let there = (self.rows - first).min(width);
        let columns = out.chunks_exact_mut(width).enumerate();
        if self.row_step == 1 {
            for (col, out) in columns {
                out[..there].copy_from_slice(&self.data[first + col * self.col_step..][..there]);
            }
            return;
        }
        for row in 0..there {
            let values = &self.data[(first + row) * self.row_step..][..self.cols];
            out[row..].iter_mut().step_by(width).zip(values).for_each(|(out, value)| *out = *value);
        }
    }

    /// Packs up to sixteen columns from `first` on into a strip: one line for each row in `rows`.
    pub(super) fn pack_strip(
        &self,
        first: usize,
        rows: Range<usize>,
        out: &mut [FloatLine],
    ) -> Result<(), WeightsError> {
        let there = (self.cols - first).min(STRIP_ROWS);
        let data = &self.data[rows.start * self.row_step + first * self.col_step..];
        if self.col_step == 1 {
            // `chunks(row_step)` would be wrong: a transposed single column is one long row with a `row_step` of 1.
            for (row, out) in out.iter_mut().enumerate() {
                *out = FloatLine::ZERO;
                out.0[..there].copy_from_slice(&data[row * self.row_step..][..there]);
            }
            return Ok(());
        }
        Ok(pack_floats(Backend::best(), data, self.col_step, there, out)?)
    }
}
