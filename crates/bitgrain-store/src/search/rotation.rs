//! `Rotation`: a fixed orthogonal transformation that spreads every vector evenly over its coordinates.

use bitgrain_codec::random::SplitMix64;

/// Rounds of sign flips and Hadamard transforms. Two make a vector with one large value even; four also mix lengths that
/// are not powers of two, where each round transforms only a part.
const ROUNDS: usize = 4;

/// Pseudo-random rotation of vectors of one length: the same in every process.
#[derive(Debug, Clone)]
pub(super) struct Rotation {
    /// Factors 1 and -1 of each round.
    flips: [Vec<f32>; ROUNDS],
    /// Largest power of two that is at most the length.
    part: usize,
}

impl Rotation {
    /// Creates the rotation of vectors with `columns` values, at least 1.
    pub(super) fn new(columns: usize) -> Self {
        let mut random = SplitMix64::new(columns as u64);
        let mut flip = || if random.next_u64() >> 63 == 0 { 1.0 } else { -1.0 };
        let flips = std::array::from_fn(|_| (0..columns).map(|_| flip()).collect());
        Self { flips, part: 1 << columns.ilog2() }
    }

    /// Rotates a vector in place. Values that overflow an f32 become infinite or NaN.
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32")]
    pub(super) fn apply(&self, values: &mut [f32]) {
        let scale = (1.0 / (self.part as f64).sqrt()) as f32;
        for (round, flips) in self.flips.iter().enumerate() {
            values.iter_mut().zip(flips).for_each(|(value, flip)| *value *= flip);
            let start = if round % 2 == 0 { 0 } else { values.len() - self.part };
            let part = &mut values[start..start + self.part];
            hadamard(part);
            part.iter_mut().for_each(|value| *value *= scale);
        }
    }
}

/// Hadamard transform of a power of two of values, not normalized.
fn hadamard(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_are_kept_at_every_length() {
        for columns in [1, 2, 3, 64, 100, 255, 384, 1000] {
            let rotation = Rotation::new(columns);
            let vector = |step: f32| (0..columns).map(|i| (i as f32 * step).sin()).collect::<Vec<f32>>();
            let (mut a, mut b) = (vector(0.7), vector(1.3));
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
            let (before, size) = (dot(&a, &b), (dot(&a, &a) * dot(&b, &b)).sqrt());
            rotation.apply(&mut a);
            rotation.apply(&mut b);
            assert!((dot(&a, &b) - before).abs() <= 1e-5 * size, "{columns} columns");
        }
    }

    #[test]
    fn one_large_value_spreads_over_all_coordinates() {
        for columns in [256, 384, 1000] {
            let mut values = vec![0.0; columns];
            values[columns / 2] = 1.0;
            Rotation::new(columns).apply(&mut values);
            let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let even = 1.0 / (columns as f32).sqrt();
            assert!(largest < 6.0 * even, "{columns} columns: {largest}, evenly {even}");
        }
    }
}
