//! Lanes in portable Rust: the definition. Four values in an array, which the compiler may keep in a register.

use core::array::from_fn;
use core::ops::{Add, Div, Mul, Sub};

use super::sqrt::sqrt;
use crate::ggml::scale_search::levels::{LEVELS, nearest, nearest_level_code};
use crate::lanes::{Isa, Lanes, Mask};

/// The portable instruction set, always available.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

const WIDTH: usize = 4;

/// Four f32.
#[derive(Clone, Copy)]
pub(crate) struct Four([f32; WIDTH]);

/// One boolean per lane.
#[derive(Clone, Copy)]
pub(crate) struct FourBools([bool; WIDTH]);

impl Isa for Portable {
    type F = Four;

    #[inline(always)]
    fn splat(self, value: f32) -> Four {
        Four([value; WIDTH])
    }

    #[inline(always)]
    fn load(self, values: &[f32]) -> Four {
        Four(from_fn(|lane| values[lane]))
    }

    #[inline(always)]
    fn columns(self, rows: &[&[f32]], at: usize, out: &mut [Four]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = Four(from_fn(|lane| rows[lane][at + i]));
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a code: `high - low` fits a byte")]
    fn codes(self, values: &[f32; 16], plus: f32, step: f32, low: i32, high: i32) -> [u8; 16] {
        from_fn(|i| (nearest((values[i] + plus) / step).min(high).max(low) - low) as u8)
    }
}

impl Four {
    #[inline(always)]
    fn map(self, f: impl Fn(f32) -> f32) -> Self {
        Self(from_fn(|lane| f(self.0[lane])))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(from_fn(|lane| f(self.0[lane], other.0[lane])))
    }

    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(f32, f32) -> bool) -> FourBools {
        FourBools(from_fn(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl Lanes for Four {
    type Mask = FourBools;

    const LANES: usize = WIDTH;

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }

    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a| -a)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(sqrt)
    }

    #[inline(always)]
    fn gt(self, other: Self) -> FourBools {
        self.compare(other, |a, b| a > b)
    }

    #[inline(always)]
    fn le(self, other: Self) -> FourBools {
        self.compare(other, |a, b| a <= b)
    }

    #[inline(always)]
    fn ne(self, other: Self) -> FourBools {
        self.compare(other, |a, b| a != b)
    }

    #[inline(always)]
    fn select(mask: FourBools, yes: Self, no: Self) -> Self {
        Self(from_fn(|lane| if mask.0[lane] { yes.0[lane] } else { no.0[lane] }))
    }

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "below 2^23")]
    fn nearest(self) -> Self {
        self.map(|a| nearest(a) as f32)
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "only the low byte is needed")]
    fn low_byte(self) -> Self {
        self.map(|a| f32::from(a as i32 as u8))
    }

    #[inline(always)]
    fn nearest_level(self) -> Self {
        self.map(|a| LEVELS[usize::from(nearest_level_code(a))])
    }

    #[inline(always)]
    fn store(self, out: &mut [f32]) {
        out[..WIDTH].copy_from_slice(&self.0);
    }
}

impl Mask for FourBools {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(from_fn(|lane| self.0[lane] & other.0[lane]))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(from_fn(|lane| self.0[lane] | other.0[lane]))
    }

    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|yes| !yes))
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().any(|&yes| yes)
    }
}

/// Implements an operator lane by lane.
macro_rules! lane_by_lane {
    ($($trait:ident $method:ident),*) => {$(
        impl $trait for Four {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, f32::$method)
            }
        }
    )*};
}

lane_by_lane!(Add add, Sub sub, Mul mul, Div div);
