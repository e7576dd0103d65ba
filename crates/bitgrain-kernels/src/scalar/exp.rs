//! Exponentials: the definition, which vector backends compile for their own registers.
//!
//! Only f32 and i32 operations without branches, so that the compiler vectorizes the loops; nothing is fused or
//! reordered, so that every backend rounds the same way.

use core::f32::consts::LOG2_E;

/// `1.5 * 2^23`: adding it to a small value rounds the value to an integer and leaves that in the low bits.
const ROUNDER: f32 = 12_582_912.0;
/// ln(2) in two parts (Cody and Waite): the first has nine bits, so that its products with the exponent are exact.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// `(exp(r) - 1 - r) / r^2` for `|r| <= ln(2) / 2`: interpolated at Chebyshev nodes, with an error below 2^-28.
const SERIES: [f32; 5] = [0.5, 0.166_665_76, 0.041_666_463, 0.008_363_295, 0.001_393_382_3];
/// Up to this magnitude, exponentials and their reciprocals are normal numbers.
const NORMAL: f32 = 87.0;

pub(crate) fn exp(values: &[f32], out: &mut [f32]) {
    exp_each(values, out);
}

pub(crate) fn sigmoid(values: &[f32], out: &mut [f32]) {
    sigmoid_each(values, out);
}

/// Loop of `exp`, for a backend to compile.
#[inline(always)]
pub(crate) fn exp_each(values: &[f32], out: &mut [f32]) {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = exp_of(value);
    }
}

/// Loop of `sigmoid`, for a backend to compile.
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
    // Comparisons with NaN are false, so NaN passes through. Beyond these limits the result is 0 or infinite anyway.
    let value = if value > 89.0 { 89.0 } else { value };
    let value = if value < -105.0 { -105.0 } else { value };
    let (fraction, exponent) = reduced(value);
    // Two factors, because 2^-150 and 2^128 are not f32 numbers. The first product is exact, so a subnormal result is
    // rounded once.
    let half = exponent >> 1;
    fraction * power_of_two(half) * power_of_two(exponent - half)
}

/// Computes `exp` of a value clamped to -87..=87.
#[inline(always)]
pub(crate) fn exp_normal(value: f32) -> f32 {
    let value = if value > NORMAL { NORMAL } else { value };
    let value = if value < -NORMAL { -NORMAL } else { value };
    let (fraction, exponent) = reduced(value);
    fraction * power_of_two(exponent)
}

/// Splits `exp(value)` into a number near 1 and an exponent of 2.
#[inline(always)]
fn reduced(value: f32) -> (f32, i32) {
    // Not fused, like everything here: backends without FMA must round the same way.
    let shifted = value * LOG2_E + ROUNDER;
    let exponent = shifted.to_bits().cast_signed().wrapping_sub(ROUNDER.to_bits().cast_signed());
    let multiple = shifted - ROUNDER;
    let r = (value - multiple * LN_2_HIGH) - multiple * LN_2_LOW;
    let [a, b, c, d, e] = SERIES;
    let series = (((e * r + d) * r + c) * r + b) * r + a;
    ((series * (r * r) + r) + 1.0, exponent)
}

/// Returns 2 to an exponent of -126 to 127. Other exponents only come from NaN and give an arbitrary number.
#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits((exponent.wrapping_add(127) << 23).cast_unsigned())
}
