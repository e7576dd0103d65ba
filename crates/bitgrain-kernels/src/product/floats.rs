//! Products of f32 matrices, with the same strips and tiles.
//!
//! A strip of floats has one line per column of sixteen rows. Each output is a chain of fused multiply-adds in column
//! order, so that the result does not depend on tiles, on splits between calls or on the backend.

use super::{FloatLine, STRIP_ROWS};
use crate::backend::on;
use crate::{Backend, KernelError};

/// Interleaved rows of f32: 1, 4 or 8 rows.
#[derive(Debug, Clone, Copy)]
pub struct FloatTile<'a> {
    width: usize,
    values: &'a [f32],
}

impl<'a> FloatTile<'a> {
    /// Creates a tile of `width` rows: for each column the values of all rows.
    ///
    /// # Errors
    /// Returns [`KernelError::InvalidBlockLen`] unless the width is 1, 4 or 8, or [`KernelError::InputTooSmall`] if the
    /// values do not fill whole columns.
    pub fn new(width: usize, values: &'a [f32]) -> Result<Self, KernelError> {
        if !matches!(width, 1 | 4 | 8) {
            return Err(KernelError::InvalidBlockLen { len: width });
        }
        if !values.len().is_multiple_of(width) {
            return Err(KernelError::InputTooSmall { required: values.len().next_multiple_of(width) });
        }
        Ok(Self { width, values })
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn cols(&self) -> usize {
        self.values.len() / self.width
    }

    pub(crate) fn value(&self, column: usize, row: usize) -> f32 {
        self.values[column * self.width + row]
    }

    /// Returns the columns of a tile of `W` rows. Empty for a tile of another width.
    #[inline]
    pub(crate) fn cols_of<const W: usize>(&self) -> &'a [[f32; W]] {
        if self.width == W { self.values.as_chunks::<W>().0 } else { &[] }
    }
}

/// Multiplies strips of `cols` lines each with every tile and adds the products to `out`, which has, strip by strip,
/// one line per row of each tile.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a tile has another number of columns or the lines do not fill whole
/// strips, or [`KernelError::OutputTooSmall`].
pub fn multiply_floats(
    backend: Backend,
    cols: usize,
    strips: &[FloatLine],
    tiles: &[FloatTile<'_>],
    out: &mut [FloatLine],
) -> Result<(), KernelError> {
    if cols == 0 {
        return Ok(());
    }
    if !strips.len().is_multiple_of(cols) || tiles.iter().any(|tile| tile.cols() != cols) {
        return Err(KernelError::InputTooSmall { required: cols });
    }
    let lines = tiles.iter().map(FloatTile::width).sum::<usize>();
    let required = (strips.len() / cols).saturating_mul(lines);
    let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
    on!(backend, multiply_floats(cols, strips, tiles, out));
    Ok(())
}

/// Packs the first `out.len()` columns of at most sixteen rows into a strip. Row `i` starts at `i * step` of `values`;
/// missing rows are zeros.
///
/// # Errors
/// Returns [`KernelError::InputTooSmall`] if a row is out of bounds or there are more than sixteen rows.
pub fn pack_floats(
    backend: Backend,
    values: &[f32],
    step: usize,
    rows: usize,
    out: &mut [FloatLine],
) -> Result<(), KernelError> {
    let last = rows.saturating_sub(1).saturating_mul(step);
    let required = if rows == 0 { 0 } else { last.saturating_add(out.len()) };
    if rows > STRIP_ROWS || values.len() < required {
        return Err(KernelError::InputTooSmall { required });
    }
    on!(backend, pack_floats(values, step, rows, out));
    Ok(())
}
