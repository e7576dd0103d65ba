//! `UnpackedMatrix`: weights of any format, unpacked a few rows at a time and multiplied as f32.

use std::sync::Arc;

use bitgrain_codec::CodecErr;
use bitgrain_codec::weight::{Parts, QuantizedTensor, Scaling, WeightFormat, check_finite};
use bitgrain_kernels::{Backend, FloatLine, STRIP_ROWS, multiply_floats, pack_floats};

use super::activations::{Floats, lines};
use super::places::{Work, compute};
use super::{ProductError, View};

/// Weights as they were quantized.
#[derive(Debug, Clone)]
pub(super) struct UnpackedMatrix(Arc<QuantizedTensor>);

impl UnpackedMatrix {
    /// Looks at every weight once.
    pub(super) fn new(tensor: Arc<QuantizedTensor>) -> Result<Self, ProductError> {
        let (rows, cols) = tensor.shape();
        let (matrix, mut row) = (Self(tensor), vec![0.0; cols]);
        for at in 0..rows {
            matrix.rows_into(at, &mut row)?;
            if let Err(CodecErr::NonFinite { index }) = check_finite(&row) {
                return Err(CodecErr::NonFinite { index: at * cols + index }.into());
            }
        }
        Ok(matrix)
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The weights from row `first` on, as many rows as `out` holds.
    pub(super) fn rows_into(&self, first: usize, out: &mut [f32]) -> Result<(), ProductError> {
        let (rows, cols) = self.0.shape();
        Ok(self.0.format().decode_rows(rows_from(&self.0, first, rows), cols, out)?)
    }

    /// The product; lengths are right.
    pub(super) fn multiply(&self, x: &[f32], batch: usize, out: &mut [f32]) -> Result<(), ProductError> {
        let (rows, cols) = self.0.shape();
        let activations = Floats::new(View::new(x, batch, cols)?);
        let tiles = activations.tiles(0..activations.count(), 0..cols)?;
        let work = Work {
            strips: rows.div_ceil(STRIP_ROWS),
            lines: lines(batch),
            products: x.len().saturating_mul(rows),
            piece: 2,
        };
        compute(work, rows, out, |first, out| {
            let strips = out.len() / work.lines;
            let mut weights = vec![0.0; STRIP_ROWS * cols];
            let mut packed = vec![FloatLine::ZERO; strips * cols];
            for (strip, packed) in (first..).zip(packed.chunks_exact_mut(cols)) {
                let there = (rows - strip * STRIP_ROWS).min(STRIP_ROWS);
                let weights = &mut weights[..there * cols];
                self.rows_into(strip * STRIP_ROWS, weights)?;
                pack_floats(Backend::best(), weights, cols, there, packed)?;
            }
            Ok(multiply_floats(Backend::best(), cols, &packed, &tiles, out)?)
        })
    }
}

/// The parts of a tensor that rows from `first` on need.
fn rows_from(tensor: &QuantizedTensor, first: usize, rows: usize) -> Parts<'_> {
    let parts = tensor.parts();
    let from = |len: usize| len / rows * first;
    let codes = &parts.codes[from(parts.codes.len())..];
    match tensor.format() {
        WeightFormat::Scaled(scaled) if matches!(scaled.scaling, Scaling::Channel | Scaling::Group(_)) => Parts {
            codes,
            scales: &parts.scales[from(parts.scales.len())..],
            zeros: &parts.zeros[from(parts.zeros.len())..],
        },
        _ => Parts { codes, ..parts },
    }
}
