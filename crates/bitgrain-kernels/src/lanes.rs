//! `Isa` and `Lanes`: f32 arithmetic on several values at once, independent of the number of lanes.
//!
//! The scale searches of llama.cpp's blocks are written over these traits, one block per lane; `generic` extends them.
//! Lanes are independent, every operation is one IEEE operation and none is fused unless documented, so that results do
//! not depend on the number of lanes. Comparisons, `min` and `max` treat NaN as SSE does; other instruction sets
//! emulate that.

use core::ops::{Add, Div, Mul, Sub};

/// Maximum number of lanes.
pub(crate) const MAX_LANES: usize = 32;

/// 1.5 * 2^23: adding and subtracting it rounds to the nearest integer, ties to even, for magnitudes up to 2^22.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// An instruction set for lanes. A value proves that the CPU has it; values of `F` are only created from one.
pub(crate) trait Isa: Copy {
    /// One f32 per lane.
    type F: Lanes;

    /// Returns `value` in every lane.
    fn splat(self, value: f32) -> Self::F;

    /// Returns value `i` of `values` in lane `i`.
    fn load(self, values: &[f32]) -> Self::F;

    /// Loads value `at + i` of each row into `out[i]`, one row per lane. Rows have at least `at + out.len()` values,
    /// and `out.len()` is a multiple of 16.
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Self::F]);

    /// Computes `(values[i] + plus) / step`, rounds it as [`Lanes::nearest`] does, clamps it to `low..=high` and
    /// subtracts `low`. Works along one block, not across several.
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16];
}

/// One f32 per lane.
pub(crate) trait Lanes:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// One boolean per lane.
    type Mask: Mask;

    /// Number of lanes.
    const LANES: usize;

    /// Returns `self` where it is smaller, else `other`; `other` if either is NaN.
    fn min(self, other: Self) -> Self;
    /// Returns `self` where it is greater, else `other`; `other` if either is NaN.
    fn max(self, other: Self) -> Self;
    fn abs(self) -> Self;
    fn neg(self) -> Self;
    /// Returns the correctly rounded square root.
    fn sqrt(self) -> Self;
    /// Compares; false where either is NaN.
    fn gt(self, other: Self) -> Self::Mask;
    /// Compares; false where either is NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// Compares; true where either is NaN.
    fn ne(self, other: Self) -> Self::Mask;
    /// Returns `yes` where the mask is set, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Rounds any value to an integer like the reference: wraps around beyond 2^22. NaN gives 0.
    fn nearest(self) -> Self;
    /// Returns an integer below 2^23 modulo 256.
    fn low_byte(self) -> Self;
    /// Returns the IQ4_NL level nearest to each value, the upper one on ties.
    fn nearest_level(self) -> Self;
    /// Stores lane `i` in `out[i]`.
    fn store(self, out: &mut [f32]);
}

/// One boolean per lane.
pub(crate) trait Mask: Copy {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn any(self) -> bool;
}
