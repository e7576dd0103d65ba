//! A query: its values and norms, and the planes of 8-bit codes that are scored against stored codes.

use bitgrain_kernels::search::{QueryLine, RowLayout, RowQuery, StartLine};

use crate::StoreError;

/// A query vector.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    /// Values, all finite.
    pub(crate) values: Vec<f32>,
    /// Euclidean norm.
    pub(crate) norm: f64,
    /// Sum of the magnitudes.
    pub(crate) sum: f64,
    /// Power of two that scales the largest value to 1 or a little more, so that f32 sums neither overflow nor vanish.
    pub(crate) unit: f64,
}

impl Query {
    /// Checks a query; `number` is its 0-based position in the batch.
    pub(crate) fn new(values: &[f32], number: usize) -> Result<Self, StoreError> {
        if let Some(index) = values.iter().position(|value| !value.is_finite()) {
            return Err(StoreError::QueryNotFinite { query: number, index });
        }
        let squares: f64 = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum();
        let sum = values.iter().map(|&value| f64::from(value.abs())).sum();
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        // Exact: the exponent of an f32, as an f64 without a fraction.
        let unit = f64::from_bits(f64::from(largest).to_bits() & 0x7FF0_0000_0000_0000);
        let unit = if unit == 0.0 { 1.0 } else { unit };
        Ok(Self { values: values.to_vec(), norm: squares.sqrt(), sum, unit })
    }
}

/// Planes of one or several queries for one layout of rows.
#[derive(Debug)]
pub(super) struct Planes {
    layout: RowLayout,
    lines: Vec<QueryLine>,
    starts: Vec<StartLine>,
    scales: Vec<f32>,
    codes: Vec<Vec<i8>>,
    /// For each query, the norm of its codes and the norm of their quantization error, both relative to its unit.
    pub(super) errors: Vec<PlaneError>,
    /// Planes per query.
    pub(super) each: usize,
}

/// Norms of a query's planes and of the difference to the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlaneError {
    pub(super) norm: f64,
    pub(super) residual: f64,
}

impl Planes {
    /// Quantizes queries to `each` planes of 8 bits: the second plane encodes the quantization error of the first.
    pub(super) fn new(layout: RowLayout, queries: &[&Query], each: usize) -> Self {
        let (block, columns) = (layout.block.get(), layout.columns);
        let planes = queries.len() * each;
        let mut codes = vec![vec![0; columns]; planes];
        let mut scales = vec![0.0; layout.blocks() * planes];
        let mut errors = Vec::new();
        for (number, query) in queries.iter().enumerate() {
            let mut rest: Vec<f64> = query.values.iter().map(|&value| f64::from(value) / query.unit).collect();
            let before: f64 = rest.iter().map(|value| value * value).sum();
            for plane in number * each..(number + 1) * each {
                for (i, (rest, codes)) in rest.chunks_mut(block).zip(codes[plane].chunks_mut(block)).enumerate() {
                    scales[i * planes + plane] = quantize(rest, codes);
                }
            }
            let residual = rest.iter().map(|value| value * value).sum::<f64>().sqrt();
            errors.push(PlaneError { norm: before.sqrt() + residual, residual });
        }
        Self {
            layout,
            lines: vec![QueryLine::ZERO; layout.lines() * planes],
            starts: vec![StartLine::ZERO; layout.blocks() * planes],
            scales,
            codes,
            errors,
            each,
        }
    }

    /// Returns the planes as the kernel reads them.
    pub(super) fn lay_out(&mut self) -> Result<RowQuery<'_>, StoreError> {
        let codes: Vec<&[i8]> = self.codes.iter().map(|codes| &codes[..]).collect();
        let laid = RowQuery::lay_out(self.layout, &codes, &mut self.lines, &mut self.starts, &self.scales);
        laid.map_err(|error| StoreError::Codec(error.into()))
    }
}

/// Rounds values to 8-bit codes and subtracts the decoded codes from them. Returns the scale.
#[expect(clippy::cast_possible_truncation, reason = "rounded, and limited to -127..=127")]
fn quantize(values: &mut [f64], codes: &mut [i8]) -> f32 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let scale = (largest / 127.0) as f32;
    if scale == 0.0 {
        return 0.0;
    }
    for (value, code) in values.iter_mut().zip(codes) {
        *code = (*value / f64::from(scale)).round_ties_even().clamp(-127.0, 127.0) as i8;
        *value -= f64::from(*code) * f64::from(scale);
    }
    scale
}
