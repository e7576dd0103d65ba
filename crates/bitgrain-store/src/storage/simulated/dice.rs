//! Seeded random numbers, identical on every machine.

use bitgrain_codec::random::SplitMix64;

/// Random number generator that depends on its seed alone ([`SplitMix64`]).
///
/// ```
/// use bitgrain_store::storage::simulated::Dice;
/// assert_eq!(Dice::new(7).below(1000), Dice::new(7).below(1000));
/// ```
#[derive(Debug, Clone)]
pub struct Dice(SplitMix64);

impl Dice {
    /// Creates a generator with `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Creates an independent generator for one part of the work, so that parts do not influence each other.
    #[must_use]
    pub fn part(seed: u64, part: u64) -> Self {
        let mut dice = Self::new(seed ^ part.wrapping_mul(0xd1b5_4a32_d192_ed03));
        dice.roll();
        dice
    }

    /// Returns a random 64-bit number.
    pub fn roll(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    #[expect(clippy::cast_possible_truncation, reason = "the product's upper half is below `end`")]
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.roll()) * end as u128) >> 64) as usize
    }

    /// Returns `true` with a probability of `percent` / 100.
    pub fn chance(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }

    /// Returns one of `choices`, which must not be empty.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_integers_stay_in_range_and_cover_it() {
        let mut dice = Dice::new(1);
        let mut seen = [false; 6];
        (0..200).for_each(|_| seen[dice.below(6)] = true);
        assert_eq!(seen, [true; 6]);
        assert_eq!(dice.below(0), 0);
    }
}
