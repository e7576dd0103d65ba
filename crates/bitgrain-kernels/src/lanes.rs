//! `Isa` and `Lanes`: f32 arithmetic on several values side by side, whatever the number of lanes.
//!
//! Searches for the scales of llama.cpp's blocks are written over these traits, a block to a lane; `generic` extends them.
//! A lane never sees its neighbors, every operation is one IEEE operation and none is fused unless it says so, so a value
//! gets the same bits whatever the number of lanes. Comparisons, `min` and `max` treat NaN as SSE does; other instruction
//! sets imitate it.

use core::ops::{Add, Div, Mul, Sub};

/// The most lanes there are.
pub(crate) const MAX_LANES: usize = 32;

/// Adding and subtracting this rounds to the nearest integer, ties to even, for magnitudes up to 2^22.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// An instruction set for lanes. Holding one is the proof that the CPU has it; values of `F` come from one only.
pub(crate) trait Isa: Copy {
    /// One f32 per lane.
    type F: Lanes;

    /// The same value in every lane.
    fn splat(self, value: f32) -> Self::F;

    /// Value `i` of `values` in lane `i`.
    fn load(self, values: &[f32]) -> Self::F;

    /// Value `at + i` of each row in `out[i]`, a row to a lane. Rows are at least `at + out.len()` long and
    /// `out.len()` is a multiple of 16.
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Self::F]);

    /// `(values[i] + plus) / step`, rounded as [`Lanes::nearest`] does and kept within `low..=high`, minus `low`. Works
    /// along one block, not across several.
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16];
}

/// One f32 per lane.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// A yes or no for each lane.
    type Mask: Mask;

    /// Number of lanes.
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
