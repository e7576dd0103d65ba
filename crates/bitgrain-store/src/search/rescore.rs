//! Second pass: the scores of candidates in f64, with the narrowest interval that the stored scales allow.

use super::metric::{Goodness, Measures, SearchMetric};
use super::query::Query;
use super::table::{SegmentTable, VectorRef};
use super::vector::{Row, ValueErrors, decode_row, norm};
use crate::StoreError;
use bitgrain_codec::BlockFormat;

/// A vector with its final score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) vector: VectorRef,
    pub(crate) goodness: Goodness,
}

/// Scores one vector of a table.
///
/// # Errors
/// Returns [`StoreError::Io`] or [`StoreError::Codec`] if its values cannot be read.
pub(crate) fn rescore(
    tables: &[std::sync::Arc<SegmentTable>],
    vector: VectorRef,
    query: &Query,
    metric: SearchMetric,
) -> Result<Scored, StoreError> {
    let table = &tables[vector.table as usize];
    let group = &table.groups[vector.group as usize];
    let at = vector.row as usize;
    let info = &table.records[group.record[at] as usize];
    let (row, count) = group.within_span(info, group.row[at]);
    let span = group.span(info);
    let mut buffer = Vec::new();
    let bytes = table.bytes(group.at[at], span, &mut buffer)?;
    let mut values = vec![0.0; group.columns];
    decode_row(group.encoding, bytes, count, row, &mut values)?;
    let residual = f64::from(group.residual[at]);
    let shift = info.errors.map_or(f64::INFINITY, |errors| shift(&errors, group.format(), bytes, row, query));
    let shift = shift.min(residual * query.norm) * (1.0 + 1e-9);
    Ok(Scored { vector, goodness: measure(&values, query, shift, residual).goodness(metric, query.norm) })
}

/// Scores decoded values, none of which is further than `unit` from the value as put.
pub(crate) fn score_values(values: &[f32], unit: f64, query: &Query, metric: SearchMetric) -> Goodness {
    let residual = unit * (values.len() as f64).sqrt() * (1.0 + 1e-9);
    let shift = (unit * query.sum).min(residual * query.norm) * (1.0 + 1e-9);
    measure(values, query, shift, residual).goodness(metric, query.norm)
}

fn measure(values: &[f32], query: &Query, shift: f64, residual: f64) -> Measures {
    let product = values.iter().zip(&query.values).map(|(&value, &query)| f64::from(value) * f64::from(query)).sum();
    let norm = norm(values);
    // Products of two f32 are exact in f64; each addition rounds once.
    let rounding = (values.len() + 4) as f64 * f64::EPSILON;
    let product_error = rounding * norm * query.norm;
    Measures { product, product_error, norm, norm_error: norm * rounding, shift, residual }
}

/// Returns the largest possible change of the inner product: each block's error times the query's magnitudes there.
fn shift(errors: &ValueErrors, format: Option<BlockFormat>, bytes: &[u8], row: Row, query: &Query) -> f64 {
    let (mut rest, mut shift) = (&query.values[..], 0.0);
    errors.for_parts(format, bytes, row, |count, error| {
        let (part, later) = rest.split_at(count.min(rest.len()));
        rest = later;
        let sum: f64 = part.iter().map(|value| f64::from(value.abs())).sum();
        // An infinite error of values that the query does not use does not matter.
        shift += if sum == 0.0 { 0.0 } else { sum * error };
    });
    shift
}
