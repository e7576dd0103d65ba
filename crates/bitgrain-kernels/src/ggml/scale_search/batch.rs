//! `Batch`: one block per lane, and the loop over rows that fills the lanes.

use super::fit::sum_of_squares;
use crate::ggml::GgmlBlock;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Rows of weights, optionally with an importance per column.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) row_len: usize,
    pub(crate) importance: Option<&'a [f32]>,
}

/// One block per lane. Lanes without a block repeat the last one, and their results are discarded.
pub(crate) struct Batch<'a> {
    /// Weights of each lane's block.
    pub(crate) values: [&'a [f32]; MAX_LANES],
    /// Importance of each weight; empty without importances.
    pub(crate) importance: [&'a [f32]; MAX_LANES],
    /// Mean square of each lane's row, for formats with `OF_ROWS`.
    pub(crate) row_mean_square: [f32; MAX_LANES],
}

/// Format whose scales are searched.
pub(crate) trait BlockSearch {
    /// The block format.
    const BLOCK: GgmlBlock;

    /// Whether [`Batch::row_mean_square`] is needed.
    const OF_ROWS: bool = false;

    /// Writes the blocks of a batch: as many as fit `out`.
    fn write<I: Isa>(isa: I, batch: &Batch<'_>, out: &mut [u8]);
}

/// Quantizes all blocks of all rows.
#[inline(always)]
pub(crate) fn quantize_rows<I: Isa, B: BlockSearch>(isa: I, rows: Rows<'_>, out: &mut [u8]) {
    let (width, size) = (B::BLOCK.weights(), B::BLOCK.bytes());
    let per_row = rows.row_len / width;
    // A group of one row per lane fills its batches completely, so that only the very last batch can have idle lanes.
    let group = rows.row_len * I::F::LANES;
    for (values, out) in rows.values.chunks(group).zip(out.chunks_mut(per_row * size * I::F::LANES)) {
        let means = if B::OF_ROWS { mean_squares(isa, values, rows.row_len) } else { [0.0; MAX_LANES] };
        let batches = values.chunks(width * I::F::LANES).zip(out.chunks_mut(size * I::F::LANES));
        for (number, (values, out)) in batches.enumerate() {
            let mut batch = Batch { values: [&[]; MAX_LANES], importance: [&[]; MAX_LANES], row_mean_square: means };
            let last = values.len() / width - 1;
            for lane in 0..I::F::LANES {
                let block = number * I::F::LANES + lane.min(last);
                let column = block % per_row * width;
                batch.values[lane] = &values[lane.min(last) * width..][..width];
                batch.row_mean_square[lane] = means[block / per_row];
                if let Some(importance) = rows.importance {
                    batch.importance[lane] = &importance[column..][..width];
                }
            }
            B::write(isa, &batch, out);
        }
    }
}

/// Computes the mean square of each row, one row per lane, summing from the first column to the last like the
/// reference.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "the reference's own conversion")]
fn mean_squares<I: Isa>(isa: I, values: &[f32], row_len: usize) -> [f32; MAX_LANES] {
    let mut rows: [&[f32]; MAX_LANES] = [&[]; MAX_LANES];
    let last = values.len() / row_len - 1;
    for (lane, row) in rows.iter_mut().enumerate() {
        *row = &values[lane.min(last) * row_len..][..row_len];
    }
    let mut means = [0.0; MAX_LANES];
    (sum_of_squares(isa, &rows, row_len) / isa.splat(row_len as f32)).store(&mut means);
    means
}
