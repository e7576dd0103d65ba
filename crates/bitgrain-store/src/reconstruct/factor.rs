//! Reconstruction by a factor: a permutation of a source's rows, a matrix product and a scale.
//!
//! Tensors are treated as matrices here: the first axis gives the rows, all other axes together the columns. A scalar
//! is one row.

use bitgrain_codec::max_abs;

use super::{Approximate, UNIT, bound_of, checked_max};
use crate::StoreError;

/// `scale * projection * permuted source`. Missing parts are the identity.
#[derive(Debug, Clone, PartialEq)]
pub struct Factor {
    /// Multiplier of every value.
    pub scale: f32,
    /// Row order: row `i` of the permuted source is row `permutation[i]` of the source.
    pub permutation: Option<Vec<u32>>,
    /// Matrix that multiplies the permuted source from the left.
    pub projection: Option<Projection>,
}

/// A matrix with as many columns as the source has rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

/// The identity.
impl Default for Factor {
    fn default() -> Self {
        Self { scale: 1.0, permutation: None, projection: None }
    }
}

impl Projection {
    /// Creates a matrix from its values in row-major order.
    ///
    /// # Errors
    /// Returns [`StoreError::ProjectionShape`] unless there are `rows * columns` values, or
    /// [`StoreError::FactorNonFinite`].
    pub fn new(rows: usize, columns: usize, values: Vec<f32>) -> Result<Self, StoreError> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(StoreError::ProjectionShape { rows, columns, got: values.len() });
        }
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(StoreError::FactorNonFinite { what: "projection", index }),
            None => Ok(Self { rows, columns, values }),
        }
    }

    /// Returns the number of rows of the result.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of rows of the source.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the values in row-major order.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the largest absolute row sum: the factor by which errors can grow.
    #[must_use]
    pub fn gain(&self) -> f64 {
        let rows = self.values.chunks(self.columns.max(1));
        rows.map(|row| row.iter().map(|value| f64::from(value.abs())).sum()).fold(0.0, f64::max)
    }
}

impl Factor {
    /// Checks the factor against a source of shape `source` and returns the shape of the result.
    ///
    /// # Errors
    /// Returns [`StoreError::FactorShape`], [`StoreError::FactorPermutation`] or [`StoreError::FactorNonFinite`].
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

/// Checks that every row occurs exactly once.
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

/// Applies `factor` to a source of shape `shape` and returns shape and values of the result. Its bound is the bound of
/// the source times the scale times the largest absolute row sum of the projection, plus the rounding error.
///
/// # Errors
/// Returns the errors of [`Factor::shape`]; [`StoreError::ShapeMismatch`] or [`StoreError::ShapeOverflow`];
/// [`StoreError::ReconstructionOverflow`] if a value exceeds the range of f32.
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
        // Sums in f64, whose rounding is negligible compared with that of the result.
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
        // A projection without columns: all sums are empty.
        values.resize(count, 0.0);
    } else {
        (0..rows).for_each(|i| values.extend(row(i).iter().map(|value| factor.scale * value)));
    }
    let bound = bound_after(factor, source, rows, checked_max(&values)?);
    Ok((result, Approximate { values, bound }))
}

/// Returns the bound of a result whose largest magnitude is `largest`.
fn bound_after(factor: &Factor, source: &Approximate, rows: usize, largest: f32) -> f32 {
    if factor.scale == 1.0 && factor.projection.is_none() {
        return source.bound;
    }
    let gain = f64::from(factor.scale.abs()) * factor.projection.as_ref().map_or(1.0, Projection::gain);
    #[expect(clippy::cast_precision_loss, reason = "a share of a rounding error")]
    let sums = if factor.projection.is_some() { (rows as f64 + 2.0) * f64::EPSILON } else { 0.0 };
    let add_errors = gain * f64::from(max_abs(&source.values)) * sums;
    // Below the smallest normal number, the rounding error is absolute: half of the smallest subnormal.
    let rounding = (f64::from(largest) * UNIT).max(f64::from(f32::from_bits(1)) / 2.0);
    bound_of(gain * f64::from(source.bound) + add_errors + rounding)
}

fn elements(shape: &[usize]) -> Result<usize, StoreError> {
    let product = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
    // At most as many values as a slice of f32 can have.
    let product = product.filter(|&count| count <= isize::MAX as usize / size_of::<f32>());
    product.ok_or_else(|| StoreError::ShapeOverflow { shape: shape.to_vec() })
}

#[cfg(test)]
mod tests;
