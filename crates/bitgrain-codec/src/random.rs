//! `SplitMix64`: the workspace's only random number generator, fully determined by its seed.
//!
//! Stochastic rounding, row sampling, initial weights and simulated faults must be reproducible bit by bit on every
//! machine and in every later version, which random number crates do not promise across releases.

/// SplitMix64 (Steele, Lea and Flood 2014): a counter and a mixing function. Every seed is equally good.
///
/// ```
/// use bitgrain_codec::random::SplitMix64;
/// let mut random = SplitMix64::new(1_234_567);
/// assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
/// assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts the sequence of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// Hashes `seed`: returns the first 64 bits of its sequence, which depend on every bit of the seed.
#[must_use]
pub const fn mix(seed: u64) -> u64 {
    SplitMix64::new(seed).next_u64()
}
