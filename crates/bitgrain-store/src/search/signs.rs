//! `SignPlane`: one bit per value of the vectors of a group, with which their inner products are estimated.
//!
//! A vector minus a center, rotated, is close in direction to the vector of its signs, because a rotation makes all
//! coordinates similar. Its inner product with a query is estimated from the signs as in RaBitQ (Gao and Long, 2024):
//! unbiased over random rotations, with a standard deviation that follows from the angle between the vector and its signs.

use std::sync::Arc;

use bitgrain_kernels::search::{SIGN_GROUP, SIGNS_PER_TABLE, set_signs, sign_group_bytes, sign_tables};

use super::query::Query;
use super::rotation::Rotation;
use super::table::{Group, SegmentTable, decode_vector};
use crate::StoreError;

/// Minimum number of values of a vector: for shorter ones, estimates are imprecise and reading all codes is fast.
pub(super) const MIN_COLUMNS: usize = 64;

/// Number of vectors without signs from which they get some. Until then, a search reads all of their codes.
pub(super) const MIN_VECTORS: usize = 1024;

/// Rotation and center that the signs of all vectors of one length share, so that a query is prepared once.
#[derive(Debug)]
pub(super) struct Frame {
    rotation: Rotation,
    /// Mean of some of the vectors. Any center is right; a good one makes estimates more precise.
    center: Vec<f32>,
}

impl Frame {
    /// Creates the frame of vectors with as many values as the center, at least 1.
    pub(super) fn new(mut center: Vec<f32>) -> Self {
        // A mean that overflows is useless.
        center.iter_mut().filter(|value| !value.is_finite()).for_each(|value| *value = 0.0);
        Self { rotation: Rotation::new(center.len()), center }
    }
}

/// Signs of the first vectors of a group, in groups of 32.
#[derive(Debug, Clone)]
pub(super) struct SignPlane {
    pub(super) frame: Arc<Frame>,
    pub(super) codes: Vec<u8>,
    /// Factor from the sum of signed query values to the inner product.
    pub(super) factor: Vec<f32>,
    /// Standard deviation of the estimate per norm of the centered query.
    pub(super) spread: Vec<f32>,
    /// Inner product of the center and the centered vector.
    pub(super) shift: Vec<f32>,
}

impl SignPlane {
    pub(super) fn new(frame: Arc<Frame>) -> Self {
        Self { frame, codes: Vec::new(), factor: Vec::new(), spread: Vec::new(), shift: Vec::new() }
    }

    /// Returns the number of vectors with signs.
    pub(super) fn len(&self) -> usize {
        self.factor.len()
    }

    /// Adds signs of whole groups of 32 vectors.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] or [`StoreError::Codec`] if a vector cannot be read.
    pub(super) fn extend(&mut self, table: &SegmentTable, group: &Group) -> Result<(), StoreError> {
        let size = sign_group_bytes(group.columns);
        let (mut values, mut buffer) = (vec![0.0; group.columns], Vec::new());
        let end = group.at.len() / SIGN_GROUP * SIGN_GROUP;
        for row in self.len()..end {
            decode_vector(table, group, row, &mut buffer, &mut values)?;
            if row.is_multiple_of(SIGN_GROUP) {
                self.codes.resize(self.codes.len() + size, 0);
            }
            let last = self.codes.len() - size;
            self.add(&mut values, row % SIGN_GROUP, last)?;
        }
        Ok(())
    }

    /// Adds a vector at a position of the group of codes at `last`.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32")]
    fn add(&mut self, values: &mut [f32], position: usize, last: usize) -> Result<(), StoreError> {
        let Frame { rotation, center } = &*self.frame;
        values.iter_mut().zip(center).for_each(|(value, center)| *value -= center);
        let shift: f64 = values.iter().zip(center).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        rotation.apply(values);
        let (mut squares, mut sum) = (0.0_f64, 0.0_f64);
        for &value in &*values {
            squares += f64::from(value) * f64::from(value);
            sum += f64::from(value.abs());
        }
        let factor = if sum == 0.0 { 0.0 } else { squares / sum };
        // The signs have norm sqrt(columns), and their inner product with the vector is the sum of its magnitudes.
        let columns = values.len() as f64;
        let missing = (factor * factor * columns - squares).max(0.0);
        let spread = (missing / (columns - 1.0).max(1.0)).sqrt();
        let finite = factor.is_finite() && spread.is_finite() && shift.is_finite();
        self.factor.push(if finite { factor as f32 } else { 0.0 });
        // Nothing is known about a vector that overflows.
        self.spread.push(if finite { spread as f32 } else { f32::INFINITY });
        self.shift.push(if finite { shift as f32 } else { 0.0 });
        set_signs(values, position, &mut self.codes[last..]).map_err(|error| StoreError::Codec(error.into()))
    }
}

/// A query as tables: entry `n` of table `t` is the sum of the four rotated values from `4 * t` on, each with the sign that
/// a bit of `n` states, rounded to 8 bits.
#[derive(Debug)]
pub(super) struct SignQuery {
    pub(super) tables: Vec<[u8; 16]>,
    /// Product per unit of a table sum.
    pub(super) step: f32,
    /// Product of a table sum of 0.
    pub(super) low: f32,
    /// Inner product of the query and the center.
    pub(super) base: f32,
    /// Norm of the query minus the center.
    pub(super) norm: f32,
    /// Standard deviation of the rounding of the tables.
    pub(super) rounding: f32,
}

impl SignQuery {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded, and from 0 to 255")]
    pub(super) fn new(query: &Query, frame: &Frame) -> Self {
        let mut values: Vec<f32> = query.values.iter().zip(&frame.center).map(|(a, b)| a - b).collect();
        let base: f64 = query.values.iter().zip(&frame.center).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        let norm = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
        frame.rotation.apply(&mut values);
        let reach = |four: &[f32]| four.iter().map(|value| value.abs()).sum::<f32>();
        let largest = values.chunks(SIGNS_PER_TABLE).map(reach).fold(0.0, f32::max);
        let step = 2.0 * largest / 255.0;
        let entry = |four: &[f32], nibble: usize| {
            let signed = four.iter().enumerate().map(|(i, value)| if nibble >> i & 1 == 1 { *value } else { -value });
            let sum: f32 = signed.sum();
            if step > 0.0 { ((sum + reach(four)) / step).round_ties_even().clamp(0.0, 255.0) as u8 } else { 0 }
        };
        let tables: Vec<[u8; 16]> =
            values.chunks(SIGNS_PER_TABLE).map(|four| std::array::from_fn(|nibble| entry(four, nibble))).collect();
        let low: f64 = values.chunks(SIGNS_PER_TABLE).map(|four| -f64::from(reach(four))).sum();
        let rounding = f64::from(step) * (sign_tables(values.len()) as f64 / 12.0).sqrt();
        let (base, low, rounding) = (base as f32, low as f32, rounding as f32);
        // Nothing is known about products with a query that overflows.
        let finite = base.is_finite() && low.is_finite() && step.is_finite();
        let norm = if finite { norm as f32 } else { f32::INFINITY };
        Self { tables, step, low, base, norm, rounding }
    }
}

#[cfg(test)]
mod tests {
    use bitgrain_codec::random::SplitMix64;
    use bitgrain_kernels::Backend;
    use bitgrain_kernels::search::sum_signs;

    use super::*;

    #[test]
    fn estimates_are_unbiased_and_as_precise_as_their_spread_says() {
        let mut random = SplitMix64::new(3);
        // From a distribution with a mean and very different scales of its coordinates.
        let mut vector = |columns: usize| -> Vec<f32> {
            let unit = |random: &mut SplitMix64| (random.next_u64() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0;
            (0..columns).map(|i| 0.2 + unit(&mut random) * if i % 50 == 0 { 8.0 } else { 1.0 }).collect()
        };
        for columns in [64, 100, 384] {
            let vectors: Vec<Vec<f32>> = (0..SIGN_GROUP * 20).map(|_| vector(columns)).collect();
            let frame = Arc::new(Frame::new(vec![0.2; columns]));
            let mut plane = SignPlane::new(Arc::clone(&frame));
            for (i, vector) in vectors.iter().enumerate() {
                if i.is_multiple_of(SIGN_GROUP) {
                    plane.codes.resize(plane.codes.len() + sign_group_bytes(columns), 0);
                }
                let last = plane.codes.len() - sign_group_bytes(columns);
                plane.add(&mut vector.clone(), i % SIGN_GROUP, last).expect("good sizes");
            }
            let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
            for _ in 0..20 {
                let query = Query::new(&vector(columns), 0).expect("finite");
                let signs = SignQuery::new(&query, &frame);
                let mut sums = vec![0; plane.len()];
                sum_signs(Backend::best(), &signs.tables, &plane.codes, &mut sums).expect("good sizes");
                for (i, vector) in vectors.iter().enumerate() {
                    let truth: f64 = vector.iter().zip(&query.values).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
                    let product = signs.step * sums[i] as f32 + signs.low;
                    let estimate = signs.base + plane.shift[i] + plane.factor[i] * product;
                    let deviation = plane.spread[i] * signs.norm + plane.factor[i] * signs.rounding;
                    let error = (f64::from(estimate) - truth) / f64::from(deviation);
                    sum += error;
                    squares += error * error;
                    count += 1.0;
                }
            }
            let (mean, deviation) = (sum / count, f64::sqrt(squares / count));
            assert!(mean.abs() < 0.05 && (0.7..1.1).contains(&deviation), "{columns}: {mean} {deviation}");
        }
    }
}
