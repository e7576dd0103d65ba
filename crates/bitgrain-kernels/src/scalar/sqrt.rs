//! Correctly rounded square root. `core` lacks one, and results must equal those of the vector instructions, which round correctly.

/// Returns the square root of a value; NaN for negative values.
pub(crate) fn sqrt(value: f32) -> f32 {
    const FRACTION: u32 = 23;
    let bits = value.to_bits();
    if value == 0.0 || value.is_nan() || bits == f32::INFINITY.to_bits() {
        return value;
    }
    if value < 0.0 {
        return f32::NAN;
    }
    // value = mantissa * 2^exponent with a mantissa of 24 bits, also for subnormals.
    let stored = bits & ((1 << FRACTION) - 1);
    let (mut mantissa, mut exponent) = match bits >> FRACTION {
        0 => (u64::from(stored), -149),
        biased => (u64::from(stored | 1 << FRACTION), biased.cast_signed() - 150),
    };
    // 25 or 26 bits, whichever makes the exponent even.
    let shift = mantissa.leading_zeros() - 39;
    mantissa <<= shift;
    exponent -= shift.cast_signed();
    if exponent & 1 != 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    // The root of 49 or 50 bits has 25 bits, one more than f32. It is never a tie: the square of an odd root has no
    // trailing zeros, and this radicand has 24.
    let root = (mantissa << 24).isqrt();
    let rounded = (root + 1) >> 1;
    // `rounded` is 2^23..=2^24, so it adds one or two to the exponent field. Roots are never subnormal.
    let biased = u64::from(((exponent - 24) / 2 + 150).unsigned_abs());
    #[expect(clippy::cast_possible_truncation, reason = "a sign of 0, 8 bits of exponent, 23 of fraction")]
    let bits = ((biased << FRACTION) + rounded) as u32;
    f32::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        extern crate std;
        let edges = [0.0, -0.0, 1e-45, 3e-45, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, 2.0, 4.0, 0.999_999_94];
        let stride = (0..f32::INFINITY.to_bits()).step_by(4_999).map(f32::from_bits);
        for value in edges.into_iter().chain(stride) {
            assert_eq!(sqrt(value).to_bits(), std::primitive::f32::sqrt(value).to_bits(), "{value:e}");
        }
        assert!(sqrt(-1.0).is_nan() && sqrt(f32::NAN).is_nan());
    }
}
