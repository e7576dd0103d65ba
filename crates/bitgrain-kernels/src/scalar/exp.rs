//! Exponentials: the definition, which vector backends compile again for their own registers.
//!
//! Plain f32 and i32 operations without branches, so that the compiler turns the loops into vector code; nothing is
//! fused and nothing reordered, so that every backend rounds alike.

use core::f32::consts::LOG2_E;

/// `1.5 * 2^23`: adding it to a small value rounds that to an integer and leaves the integer in the low bits.
const ROUNDER: f32 = 12_582_912.0;
/// The logarithm of 2 in two parts: the first has nine bits, so that whole multiples of it are exact.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// `(exp(r) - 1 - r) / r^2` for `|r| <= ln(2) / 2`: interpolated at Chebyshev nodes, off by less than 2^-28.
const SERIES: [f32; 5] = [0.5, 0.166_665_76, 0.041_666_463, 0.008_363_295, 0.001_393_382_3];
/// Up to here, in both directions, exponentials and their reciprocals are normal numbers.
const NORMAL: f32 = 87.0;

pub(crate) fn exp(values: &[f32], out: &mut [f32]) {
    exp_each(values, out);
}

pub(crate) fn sigmoid(values: &[f32], out: &mut [f32]) {
    sigmoid_each(values, out);
}

/// The loop of `exp`, for a backend to compile.
#[inline(always)]
pub(crate) fn exp_each(values: &[f32], out: &mut [f32]) {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = exp_of(value);
    }
}

/// The loop of `sigmoid`, for a backend to compile.
#[inline(always)]
pub(crate) fn sigmoid_each(values: &[f32], out: &mut [f32]) {
    for (out, &value) in out.iter_mut().zip(values) {
        let small = exp_normal(-value.abs());
        let numerator = if value < 0.0 { small } else { 1.0 };
        *out = numerator / (1.0 + small);
    }
}

#[inline(always)]
fn exp_of(value: f32) -> f32 {
    // Comparisons that are false for NaN, which so comes through. Beyond these bounds the result stays 0 or infinite.
    let value = if value > 89.0 { 89.0 } else { value };
    let value = if value < -105.0 { -105.0 } else { value };
    let (fraction, exponent) = reduced(value);
    // In two steps, because 2^-150 and 2^128 are no f32. The first is exact, so a subnormal result is rounded once.
    let half = exponent >> 1;
    fraction * power_of_two(half) * power_of_two(exponent - half)
}

/// `exp` of a value from -87 to 87; what is beyond counts as the bound.
#[inline(always)]
pub(crate) fn exp_normal(value: f32) -> f32 {
    let value = if value > NORMAL { NORMAL } else { value };
    let value = if value < -NORMAL { -NORMAL } else { value };
    let (fraction, exponent) = reduced(value);
    fraction * power_of_two(exponent)
}

/// `exp(value)` as a number about 1 and the power of two that goes with it.
#[inline(always)]
fn reduced(value: f32) -> (f32, i32) {
    let shifted = value * LOG2_E + ROUNDER;
    let exponent = shifted.to_bits().cast_signed().wrapping_sub(ROUNDER.to_bits().cast_signed());
    let multiple = shifted - ROUNDER;
    let r = (value - multiple * LN_2_HIGH) - multiple * LN_2_LOW;
    let [a, b, c, d, e] = SERIES;
    let series = (((e * r + d) * r + c) * r + b) * r + a;
    ((series * (r * r) + r) + 1.0, exponent)
}

/// 2 to the power of an exponent from -126 to 127. For others, which only come from NaN, some number.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits((exponent.wrapping_add(127) << 23).cast_unsigned())
}
