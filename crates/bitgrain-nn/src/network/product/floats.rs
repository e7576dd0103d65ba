//! `FloatMatrix`: f32 weights in strips.

use bitgrain_kernels::Backend;
use bitgrain_kernels::product::{FloatLine, STRIP_ROWS, multiply_floats, pack_floats};

use super::activations::{Floats, lines};
use super::places::{Work, compute};
use super::{View, WeightsError};

/// Bytes of weights per task.
const PIECE: usize = 512 << 10;

/// Weights in strips: one line of sixteen rows for each column.
#[derive(Debug, Clone)]
pub(super) struct FloatMatrix {
    rows: usize,
    cols: usize,
    strips: Vec<FloatLine>,
}

impl FloatMatrix {
    /// Interleaves rows of `cols` weights; both counts must be positive.
    pub(super) fn new(weights: &[f32], cols: usize) -> Result<Self, WeightsError> {
        let rows = weights.len() / cols;
        let mut strips = vec![FloatLine::ZERO; rows.div_ceil(STRIP_ROWS) * cols];
        for (weights, strip) in weights.chunks(STRIP_ROWS * cols).zip(strips.chunks_exact_mut(cols)) {
            pack_floats(Backend::best(), weights, cols, weights.len() / cols, strip)?;
        }
        Ok(Self { rows, cols, strips })
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.strips[..])
    }

    /// Decodes a row, which must exist.
    pub(super) fn row_into(&self, row: usize, out: &mut [f32]) {
        let strip = &self.strips[row / STRIP_ROWS * self.cols..][..self.cols];
        out.iter_mut().zip(strip).for_each(|(out, line)| *out = line.0[row % STRIP_ROWS]);
    }

    /// Computes the product; the caller checked the lengths.
    pub(super) fn multiply(&self, x: &[f32], batch: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        let (cols, count) = (self.cols, self.strips.len() / self.cols);
        let activations = Floats::new(View::new(x, batch, cols)?);
        let tiles = activations.tiles(0..activations.count(), 0..cols)?;
        let work = Work {
            strips: count,
            lines: lines(batch),
            products: x.len().saturating_mul(self.rows),
            piece: (PIECE / (cols * size_of::<FloatLine>())).next_multiple_of(2),
        };
        compute(work, self.rows, out, |first, out| {
            let strips = &self.strips[first * cols..][..out.len() / work.lines * cols];
            Ok(multiply_floats(Backend::best(), cols, strips, &tiles, out)?)
        })
    }
}
