//! `UnpackedMatrix`: weights in any format, unpacked a few columns of a few rows at a time and multiplied as f32.

use std::sync::Arc;

use bitgrain_codec::weight::QuantizedTensor;
use bitgrain_kernels::Backend;
use bitgrain_kernels::product::{FloatLine, STRIP_ROWS, multiply_floats, pack_floats};

use super::activations::{Floats, lines};
use super::places::{Work, compute};
use super::{View, WeightsError};

/// Number of columns that are unpacked at once, rounded up to whole blocks: with sixteen rows and two strips, the
/// buffers between codes and sums fit into the L2 cache.
const COLUMNS: usize = 512;

/// Number of strips per task.
const STRIPS: usize = 2;

/// Weights in their original encoding.
#[derive(Debug, Clone)]
pub(super) struct UnpackedMatrix(Arc<QuantizedTensor>);

impl UnpackedMatrix {
    /// Wraps weights that are finite.
    pub(super) const fn new(tensor: Arc<QuantizedTensor>) -> Self {
        Self(tensor)
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Decodes a row, which must exist.
    pub(super) fn row_into(&self, row: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        Ok(self.0.columns_into(row, 0, out)?)
    }

    /// Computes the product; the caller checked the lengths.
    pub(super) fn multiply(&self, x: &[f32], batch: usize, out: &mut [f32]) -> Result<(), WeightsError> {
        let (rows, cols) = self.0.shape();
        let activations = Floats::new(View::new(x, batch, cols)?);
        let step = COLUMNS.next_multiple_of(self.0.step());
        let runs = (0..cols).step_by(step).map(|start| {
            let columns = start..cols.min(start + step);
            Ok((columns.clone(), activations.tiles(0..activations.count(), columns)?))
        });
        let runs = runs.collect::<Result<Vec<_>, WeightsError>>()?;
        let work = Work {
            strips: rows.div_ceil(STRIP_ROWS),
            lines: lines(batch),
            products: x.len().saturating_mul(rows),
            piece: STRIPS,
        };
        compute(work, rows, out, |first, out| {
            let strips = out.len() / work.lines;
            let mut weights = vec![0.0; STRIP_ROWS * step.min(cols)];
            let mut packed = vec![FloatLine::ZERO; strips * step.min(cols)];
            for (columns, tiles) in &runs {
                let wide = columns.len();
                let packed = &mut packed[..strips * wide];
                for (strip, packed) in (first..).zip(packed.chunks_exact_mut(wide)) {
                    let from = strip * STRIP_ROWS;
                    let there = (rows - from).min(STRIP_ROWS);
                    for (row, weights) in (from..from + there).zip(weights.chunks_exact_mut(wide)) {
                        self.0.columns_into(row, columns.start, weights)?;
                    }
                    pack_floats(Backend::best(), &weights, wide, there, packed)?;
                }
                multiply_floats(Backend::best(), wide, packed, tiles, out)?;
            }
            Ok(())
        })
    }
}
