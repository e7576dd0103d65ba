//! Products of plain f32 matrices: `x·Wᵀ` in the forward pass, `y·W` and `yᵀ·x` in the backward pass.

use std::ops::Range;

use bitgrain_kernels::Backend;
use bitgrain_kernels::product::{FloatLine, FloatTile, STRIP_ROWS, multiply_floats};
use rayon::prelude::*;

use super::activations::{Floats, lines, widths};
use super::places::{Work, compute};
use super::{FEW_PRODUCTS, View, WeightsError};

/// Number of strips that are packed at once, and lines of each: 256 KiB, which fits into the L2 cache.
const STRIPS: usize = 8;
const INNER: usize = 512;

/// Number of output rows from which a run of rows is enough work for a thread.
const MANY: usize = 64;

/// Dimensions of a layer's matrices: `x` is batch × cols, `W` is rows × cols, `y` is batch × rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductShape {
    /// Number of rows of activations.
    pub batch: usize,
    /// Number of rows of weights: outputs.
    pub rows: usize,
    /// Number of columns of weights: inputs.
    pub cols: usize,
}

/// Computes `out = x·Wᵀ`, the forward pass: `x` is batch × cols, `w` rows × cols, `out` batch × rows.
///
/// ```
/// use bitgrain_nn::network::product::{ProductShape, multiply_f32};
/// let mut out = [0.0; 2];
/// multiply_f32(&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], ProductShape { batch: 1, rows: 2, cols: 2 }, &mut out)?;
/// assert_eq!(out, [11.0, 17.0]);
/// # Ok::<(), bitgrain_nn::network::weights::WeightsError>(())
/// ```
///
/// # Errors
/// Returns [`WeightsError::Length`] if a slice does not match `shape`.
pub fn multiply_f32(x: &[f32], w: &[f32], shape: ProductShape, out: &mut [f32]) -> Result<(), WeightsError> {
    let ProductShape { batch, rows, cols } = shape;
    multiply_views(View::new(x, batch, cols)?, View::new(w, rows, cols)?.transposed(), out)
}

/// Computes `out = y·W`, the gradient of the inputs: `y` is batch × rows, `w` rows × cols, `out` batch × cols.
///
/// # Errors
/// Returns [`WeightsError::Length`] if a slice does not match `shape`.
pub fn multiply_back_f32(y: &[f32], w: &[f32], shape: ProductShape, out: &mut [f32]) -> Result<(), WeightsError> {
    let ProductShape { batch, rows, cols } = shape;
    multiply_views(View::new(y, batch, rows)?, View::new(w, rows, cols)?, out)
}

/// Computes `out = yᵀ·x`, the gradient of the weights: `y` is batch × rows, `x` batch × cols, `out` rows × cols.
///
/// # Errors
/// Returns [`WeightsError::Length`] if a slice does not match `shape`.
pub fn multiply_outer_f32(y: &[f32], x: &[f32], shape: ProductShape, out: &mut [f32]) -> Result<(), WeightsError> {
    let ProductShape { batch, rows, cols } = shape;
    multiply_views(View::new(y, batch, rows)?.transposed(), View::new(x, batch, cols)?, out)
}

/// Computes `out = a·b` in row-major order. Each output is a chain of fused multiply-adds along the inner dimension,
/// starting from zero.
///
/// # Errors
/// Returns [`WeightsError::Inner`] if the inner dimensions differ, [`WeightsError::Length`] if `out` has another size.
pub fn multiply_views(a: View<'_>, b: View<'_>, out: &mut [f32]) -> Result<(), WeightsError> {
    if a.cols() != b.rows() {
        return Err(WeightsError::Inner { left: a.cols(), right: b.rows() });
    }
    let (rows, cols) = (a.rows(), b.cols());
    if rows.checked_mul(cols) != Some(out.len()) {
        return Err(WeightsError::Length { what: "output", found: out.len(), rows, cols });
    }
    if a.cols() == 0 {
        out.fill(0.0);
    }
    if out.is_empty() || a.cols() == 0 {
        return Ok(());
    }
    let tiles = Floats::new(a);
    if rows < MANY { by_columns(&tiles, rows, b, out) } else { by_rows(&tiles, rows, b, out) }
}

/// Splits the work by columns of `out`, so that `b` is packed only once.
fn by_columns(tiles: &Floats, rows: usize, b: View<'_>, out: &mut [f32]) -> Result<(), WeightsError> {
    let (inner, cols) = (b.rows(), b.cols());
    let work = Work {
        strips: cols.div_ceil(STRIP_ROWS),
        lines: lines(rows),
        products: inner.saturating_mul(out.len()),
        piece: STRIPS,
    };
    compute(work, cols, out, |first, out| add_product(tiles, 0..tiles.count(), b, first, out))
}

/// Splits the work by rows of `out`, which is written in place: for products whose output is the largest matrix.
fn by_rows(tiles: &Floats, rows: usize, b: View<'_>, out: &mut [f32]) -> Result<(), WeightsError> {
    let cols = b.cols();
    // Enough pieces for all threads. Each output is summed in the same order for any piece size.
    // Pieces are multiples of 8 rows, so that each starts at a tile.
    let piece = (rows / (4 * rayon::current_num_threads())).next_multiple_of(8).clamp(16, 128);
    let compute = |(at, out): (usize, &mut [f32])| -> Result<(), WeightsError> {
        let there = out.len() / cols;
        let (lines, first_tile) = (lines(there), at * piece / 8);
        let tiles_here = first_tile..first_tile + widths(there).count();
        for first in (0..cols.div_ceil(STRIP_ROWS)).step_by(STRIPS) {
            let strips = STRIPS.min(cols.div_ceil(STRIP_ROWS) - first);
            let mut sums = vec![FloatLine::ZERO; strips * lines];
            add_product(tiles, tiles_here.clone(), b, first, &mut sums)?;
            for (row, out) in out.chunks_exact_mut(cols).enumerate() {
                let out = out[first * STRIP_ROWS..].chunks_mut(STRIP_ROWS);
                for (out, sums) in out.zip(sums.chunks_exact(lines)) {
                    out.copy_from_slice(&sums[row].0[..out.len()]);
                }
            }
        }
        Ok(())
    };
    if b.rows().saturating_mul(out.len()) < FEW_PRODUCTS {
        return out.chunks_mut(piece * cols).enumerate().try_for_each(compute);
    }
    out.par_chunks_mut(piece * cols).enumerate().try_for_each(compute)
}

/// Adds the products of some tiles with the strips of `b` from `first` on, as many as `out` has lines for.
fn add_product(
    tiles: &Floats,
    which: Range<usize>,
    b: View<'_>,
    first: usize,
    out: &mut [FloatLine],
) -> Result<(), WeightsError> {
    let mut lines = 0;
    let mut packed = Vec::new();
    for start in (0..b.rows()).step_by(INNER) {
        let inner = start..b.rows().min(start + INNER);
        let tiles = tiles.tiles(which.clone(), inner.clone())?;
        if lines == 0 {
            lines = tiles.iter().map(FloatTile::width).sum();
        }
        let strips = out.len() / lines;
        packed.resize(strips * inner.len(), FloatLine::ZERO);
        for (strip, packed) in (first..).zip(packed.chunks_exact_mut(inner.len())) {
            b.pack_strip(strip * STRIP_ROWS, inner.clone(), packed)?;
        }
        multiply_floats(Backend::best(), inner.len(), &packed, &tiles, out)?;
    }
    Ok(())
}
