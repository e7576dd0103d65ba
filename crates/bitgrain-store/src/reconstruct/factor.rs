//! What a factor makes of a source: its rows in another order, multiplied by a matrix, scaled.
//!
//! A tensor is taken as a matrix here: the first axis are its rows, all others together its columns. A tensor without
//! axes is one row.

use bitgrain_codec::max_abs;

use super::{Approximate, UNIT, bound_of, checked_max};
use crate::StoreError;

/// `scale * projection * permuted source`. What is not there changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Multiplies every value.
    pub scale: f32,
    /// Row `i` of the permuted source is its row `permutation[i]`.
    pub permutation: Option<Vec<u32>>,
    /// Multiplies the permuted source from the left.
    pub projection: Option<Projection>,
}

/// A matrix with as many columns as the source has rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

/// Changes nothing.
impl Default for Factor {
    fn default() -> Self {
        Self { scale: 1.0, permutation: None, projection: None }
    }
}

impl Projection {
    /// A matrix from its numbers, row by row.
    ///
    /// # Errors
    /// [`StoreError::ProjectionShape`] unless there are `rows * columns`; [`StoreError::FactorNonFinite`].
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Result<Self, StoreError> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(StoreError::ProjectionShape { rows, columns, got: values.len() });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(StoreError::FactorNonFinite { what: "projection", index }),
            None => Ok(Self { rows, columns, values }),
        }
    }

    /// Rows of the result.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Rows of the source.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The numbers, row by row.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Largest sum of magnitudes of a row: how many times larger errors can get.
    #[must_use]
    pub fn gain(&self) -> f64 {
        let rows = self.values.chunks(self.columns.max(1));
        rows.map(|row| row.iter().map(|value| f64::from(value.abs())).sum()).fold(0.0, f64::max)
    }
}

impl Factor {
    /// Shape of the result for a source of shape `source`, if the factor goes with it.
    ///
    /// # Errors
    /// [`StoreError::FactorShape`], [`StoreError::FactorPermutation`], [`StoreError::FactorNonFinite`].
    pub fn shape(&self, source: &[usize]) -> Result<Vec<usize>, StoreError> {
        if !self.scale.is_finite() {
            return Err(StoreError::FactorNonFinite { what: "scale", index: 0 });
        }
        let rows = source.first().copied().unwrap_or(1);
        if let Some(permutation) = &self.permutation {
            if permutation.len() != rows {
                return Err(StoreError::FactorShape { what: "permutation", expected: permutation.len(), got: rows });
            }
            check_permutation(permutation)?;
        }
        let Some(projection) = &self.projection else { return Ok(source.to_vec()) };
        if projection.columns != rows {
            return Err(StoreError::FactorShape { what: "projection", expected: projection.columns, got: rows });
        }
        let mut shape = source.to_vec();
        match shape.first_mut() {
            Some(first) => *first = projection.rows,
            None => shape.push(projection.rows),
        }
        Ok(shape)
    }
}

/// Every row once.
fn check_permutation(permutation: &[u32]) -> Result<(), StoreError> {
    let len = permutation.len();
    let mut seen = vec![false; len];
    for (index, &row) in permutation.iter().enumerate() {
        let row = row as usize;
        match seen.get_mut(row) {
            Some(seen) if !*seen => *seen = true,
            _ => return Err(StoreError::FactorPermutation { index, row, len }),
        }
    }
    Ok(())
}

/// What `factor` makes of a source of shape `shape`: the shape and values of the result. Its bound is that of the source,
/// times the scale, times the largest sum of magnitudes of a row of the projection, and what rounding costs.
///
/// # Errors
/// Those of [`Factor::shape`]; [`StoreError::ShapeMismatch`], [`StoreError::ShapeOverflow`];
/// [`StoreError::ReconstructionOverflow`] if a value is beyond the range of f32.
pub fn apply_factor(
    shape: &[usize],
    source: &Approximate,
    factor: &Factor,
) -> Result<(Vec<usize>, Approximate), StoreError> {
    let result = factor.shape(shape)?;
    let expected = elements(shape)?;
    if expected != source.values.len() {
        return Err(StoreError::ShapeMismatch { expected, got: source.values.len() });
    }
    let count = elements(&result)?;
    let rows = shape.first().copied().unwrap_or(1);
    let columns = expected.checked_div(rows).unwrap_or(0);
    let row = |i: usize| {
        let i = factor.permutation.as_ref().map_or(i, |permutation| permutation[i] as usize);
        &source.values[i * columns..(i + 1) * columns]
    };
    let mut values = Vec::with_capacity(count);
    if let Some(projection) = &factor.projection {
        // Sums in f64: their own rounding is then far below that of the result.
        let mut sums = vec![0.0_f64; columns];
        for weights in projection.values.chunks(rows.max(1)) {
            sums.fill(0.0);
            for (i, &weight) in weights.iter().enumerate() {
                let weight = f64::from(weight);
                for (sum, &value) in sums.iter_mut().zip(row(i)) {
                    *sum += weight * f64::from(value);
                }
            }
            #[expect(clippy::cast_possible_truncation, reason = "the result is f32; its rounding is in the bound")]
            values.extend(sums.iter().map(|sum| (f64::from(factor.scale) * sum) as f32));
        }
        // A projection of no columns: sums of nothing.
        values.resize(count, 0.0);
    } else {
        (0..rows).for_each(|i| values.extend(row(i).iter().map(|value| factor.scale * value)));
    }
    let bound = bound_after(factor, source, rows, checked_max(&values)?);
    Ok((result, Approximate { values, bound }))
}

/// The bound of a result whose largest magnitude is `largest`.
fn bound_after(factor: &Factor, source: &Approximate, rows: usize, largest: f32) -> f32 {
    if factor.scale == 1.0 && factor.projection.is_none() {
        return source.bound;
    }
    let gain = f64::from(factor.scale.abs()) * factor.projection.as_ref().map_or(1.0, Projection::gain);
    #[expect(clippy::cast_precision_loss, reason = "a share of a rounding error")]
    let sums = if factor.projection.is_some() { (rows as f64 + 2.0) * f64::EPSILON } else { 0.0 };
    let add_errors = gain * f64::from(max_abs(&source.values)) * sums;
    // Below the smallest normal number, a rounding is absolute: half of the smallest number.
    let rounding = (f64::from(largest) * UNIT).max(f64::from(f32::from_bits(1)) / 2.0);
    bound_of(gain * f64::from(source.bound) + add_errors + rounding)
}

fn elements(shape: &[usize]) -> Result<usize, StoreError> {
    let product = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
    // No more values than a slice of f32 can have.
    let product = product.filter(|&count| count <= isize::MAX as usize / size_of::<f32>());
    product.ok_or_else(|| StoreError::ShapeOverflow { shape: shape.to_vec() })
}

#[cfg(test)]
mod tests;
