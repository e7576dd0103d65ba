//! `Isa` and `Lanes`: f32 arithmetic on several blocks side by side, one block to a lane.
//!
//! The searches are written once over these traits. A lane never sees its neighbours, every operation is one IEEE
//! operation and none is fused, so a block gets the same bits whatever the number of lanes. Comparisons, `min` and
//! `max` treat NaN as SSE does, which the portable lanes imitate.

use core::ops::{Add, Div, Mul, Sub};

/// The most lanes there are.
pub(crate) const MAX_LANES: usize = 32;

/// Adding and subtracting this rounds to the nearest integer, ties to even, for magnitudes up to 2^22.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// An instruction set for lanes. Holding one is the proof that the CPU has it; values of `F` come from one only.
pub(crate) trait Isa: Copy {
    /// One f32 of each block.
    type F: Lanes;

    /// The same value in every lane.
    fn splat(self, value: f32) -> Self::F;

    /// Value `i` of `values` in lane `i`.
    fn load(self, values: &[f32]) -> Self::F;

    /// Value `at + i` of each row in `out[i]`, a row to a lane. Rows are at least `at + out.len()` long and
    /// `out.len()` is a multiple of 16.
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Self::F]);

    /// `(values[i] + plus) / step`, rounded as [`nearest`] does and kept within
    /// `low..=high`, minus `low`. Works along one block, not across several.
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16];
}

/// One f32 of each of several blocks.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// A yes or no for each lane.
    type Mask: Mask;

    /// How many blocks are worked on side by side.
    const LANES: usize;

    /// `self` where it is smaller, else `other`: also if either is NaN.
    fn min(self, other: Self) -> Self;
    /// `self` where it is greater, else `other`: also if either is NaN.
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn neg(self) -> Self;
    /// Correctly rounded.
    fn sqrt(self) -> Self;
    /// False where either is NaN.
    fn gt(self, other: Self) -> Self::Mask;
    /// False where either is NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// True where either is NaN.
    fn ne(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is set, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The reference's rounding to an integer, for any value: beyond 2^22 it wraps around. A NaN gives 0.
    fn nearest(self) -> Self;
    /// An integer below 2^23 modulo 256, as its value in a byte.
    fn low_byte(self) -> Self;
    /// The level of IQ4_NL nearest to each value, the upper one at equal distance.
    fn nearest_level(self) -> Self;
    /// Lane `i` in `out[i]`.
    fn store(self, out: &mut [f32]);
}

/// A yes or no for each lane.
pub(crate) trait Mask: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn any(self) -> bool;
}

/// The levels of IQ4_NL.
pub(crate) const LEVELS: [f32; 16] =
    [-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0];

/// Where each level of IQ4_NL but the first begins: the midpoints between two, exact in f32.
pub(crate) const LEVEL_STARTS: [f32; 15] = {
    let mut starts = [0.0; 15];
    let mut i = 0;
    while i < 15 {
        starts[i] = (LEVELS[i] + LEVELS[i + 1]) / 2.0;
        i += 1;
    }
    starts
};

/// The reference's rounding to an integer: nearest, ties to even, wrapping around beyond 2^22. A NaN gives 0.
pub(crate) fn nearest(value: f32) -> i32 {
    if value.is_nan() {
        return 0;
    }
    ((value + ROUNDER).to_bits() & 0x007F_FFFF).cast_signed() - 0x0040_0000
}

/// The number of the IQ4_NL level nearest to a value, the upper one at equal distance.
#[inline(always)]
pub(crate) fn nearest_level_code(value: f32) -> u8 {
    let mut code = 0;
    for start in LEVEL_STARTS {
        code += u8::from(value >= start);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rounds_ties_to_even_and_wraps() {
        assert_eq!([0.5, 1.5, 2.5, -0.5, -1.5, 7.49].map(nearest), [0, 2, 2, 0, -2, 7]);
        assert_eq!([4_194_303.0, 4_194_304.0, f32::NAN].map(nearest), [4_194_303, -4_194_304, 0]);
    }

    #[test]
    fn level_codes_change_at_the_midpoints() {
        assert_eq!([-1e9, -115.51, -115.5, 6.9, 7.0, 101.0, 1e9].map(nearest_level_code), [0, 0, 1, 8, 9, 15, 15]);
    }
}
