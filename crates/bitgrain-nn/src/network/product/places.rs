//! Computes strips of outputs in parallel and copies them to the rows of a batch.

use bitgrain_kernels::product::{FloatLine, STRIP_ROWS};
use rayon::prelude::*;

use super::{FEW_PRODUCTS, FEW_VALUES, WeightsError};

/// Size of a computation: `strips` strips with `lines` lines each, about `products` multiplications in total.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) strips: usize,
    pub(super) lines: usize,
    pub(super) products: usize,
    /// Strips per task.
    pub(super) piece: usize,
}

/// Calls `compute` for pieces of the strips, with the first strip and zeroed lines for the sums. Then copies line `b`
/// of each strip to row `b` of `out`, whose rows have `cols` values.
pub(super) fn compute(
    work: Work,
    cols: usize,
    out: &mut [f32],
    compute: impl Fn(usize, &mut [FloatLine]) -> Result<(), WeightsError> + Sync,
) -> Result<(), WeightsError> {
    if out.is_empty() {
        return Ok(());
    }
    let mut lines = vec![FloatLine::ZERO; work.strips * work.lines];
    let piece = work.piece.max(1);
    let length = piece * work.lines;
    if work.products < FEW_PRODUCTS {
        lines.chunks_mut(length).enumerate().try_for_each(|(i, lines)| compute(i * piece, lines))?;
    } else {
        lines.par_chunks_mut(length).enumerate().try_for_each(|(i, lines)| compute(i * piece, lines))?;
    }
    let place = |(row, out): (usize, &mut [f32])| {
        for (strip, out) in out.chunks_mut(STRIP_ROWS).enumerate() {
            out.copy_from_slice(&lines[strip * work.lines + row].0[..out.len()]);
        }
    };
    if out.len() < FEW_VALUES {
        out.chunks_mut(cols).enumerate().for_each(place);
    } else {
        out.par_chunks_mut(cols).enumerate().for_each(place);
    }
    Ok(())
}
