//! `Random`: deterministic random numbers.

use bitgrain_codec::random::{SplitMix64, mix};

/// A stream of random numbers for initial weights and the order of rows.
#[derive(Debug, Clone)]
pub(crate) struct Random(SplitMix64);

impl Random {
    /// Creates the stream for `seed` and `purpose`.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        Self(SplitMix64::new(mix(seed) ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    /// Returns a uniform number in 0..1.
    #[expect(clippy::cast_precision_loss, reason = "24 bits are exact in an f32")]
    pub(crate) fn share(&mut self) -> f32 {
        (self.0.next_u64() >> 40) as f32 / 16_777_216.0
    }

    /// Returns a normally distributed number (Box–Muller transform).
    pub(crate) fn normal(&mut self) -> f32 {
        // `1 - share` is in (0, 1], so that the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.share()).cos()
    }

    /// Shuffles the items.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            // The modulo bias is negligible: lengths are far below 2^64.
            let below = self.0.next_u64() % (end as u64 + 1);
            items.swap(end, usize::try_from(below).unwrap_or(end));
        }
    }
}
