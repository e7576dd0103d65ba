//! Seeded inputs: identical bits on every machine and in every run.

use bitgrain::codec::random::SplitMix64;

use crate::buffer::Buffer;

/// Seed of all inputs.
pub(crate) const SEED: u64 = 0xB17_64A1;

/// Random number generator for inputs.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a roughly normal number with mean 0 and standard deviation 1: a scaled sum of eight uniform numbers.
    /// Unlike a logarithm, a sum has the same bits on every platform.
    pub(crate) fn normal(&mut self) -> f32 {
        // The sum of eight uniform 16-bit numbers has the mean 4 · 65535 and the standard deviation 65536 · √(8/12).
        const MEAN: f32 = 4.0 * 65_535.0;
        const DEVIATION: f32 = 53_509.92;
        let words = [self.next().to_le_bytes(), self.next().to_le_bytes()];
        let halves = words.as_flattened().as_chunks::<2>().0;
        let sum: u32 = halves.iter().map(|&half| u32::from(u16::from_le_bytes(half))).sum();
        (sum as f32 - MEAN) / DEVIATION
    }
}

/// Returns `count` roughly normal values.
pub(crate) fn normal(count: usize) -> Buffer<f32> {
    let mut random = Random::new(SEED);
    Buffer::from_values((0..count).map(|_| random.normal()))
}

/// Returns `count` codes from 0 to `max`.
pub(crate) fn codes(count: usize, max: u16) -> Buffer<u16> {
    let mut random = Random::new(SEED);
    let mut code = || u16::try_from(random.next() % (u64::from(max) + 1)).unwrap_or(max);
    Buffer::from_values((0..count).map(|_| code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_centered_with_deviation_one() {
        let values = normal(100_000);
        let mean = values.iter().sum::<f32>() / 1e5;
        let variance = values.iter().map(|v| v * v).sum::<f32>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "mean {mean}, variance {variance}");
    }

    #[test]
    fn codes_reach_both_ends_of_their_range() {
        let codes = codes(1000, 6);
        assert_eq!((codes.iter().min(), codes.iter().max()), (Some(&0), Some(&6)));
    }
}
