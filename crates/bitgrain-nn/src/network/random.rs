//! `Random`: numbers that depend on a seed and on nothing else.

/// A stream of random numbers (SplitMix64, Steele and others 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream that `seed` and `purpose` name.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut random = Self(seed);
        Self(random.next() ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform from 0 to 1, without 1.
    #[expect(clippy::cast_precision_loss, reason = "24 bits are exact in an f32")]
    pub(crate) fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// Normally distributed (Box and Muller).
    pub(crate) fn normal(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.share()).cos()
    }

    /// Puts items into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let below = self.next() % (end as u64 + 1);
            items.swap(end, usize::try_from(below).unwrap_or(end));
        }
    }
}
