//! `a * b + c` with one rounding, for CPUs without the instruction and for builds without std.

/// Smallest normal f32, as f64.
const SMALLEST: f64 = 1.175_494_350_822_287_5e-38;

/// Computes a fused multiply-add of f32. The payload of a NaN is unspecified.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the one rounding")]
pub(crate) fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    // The product of two 24-bit mantissas is exact in the 53 bits of an f64; only the sum is rounded.
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    // Rounding twice equals rounding once, unless the first result lands halfway between two f32.
    let halfway = sum.to_bits() & 0x1FFF_FFFF == 0x1000_0000;
    if !halfway && sum.abs() >= SMALLEST { sum as f32 } else { carefully(product, c, sum) }
}

/// Rounds the sum to odd first, which preserves the side of the midpoint it is on (Boldo and Melquiond 2008).
#[cold]
#[expect(clippy::cast_possible_truncation, reason = "the one rounding")]
fn carefully(product: f64, c: f64, sum: f64) -> f32 {
    if !sum.is_finite() {
        return sum as f32;
    }
    // Knuth's two-sum: `lost` is the exact rounding error of the addition.
    let added = sum - product;
    let lost = (product - (sum - added)) + (c - added);
    if lost == 0.0 || sum.to_bits() & 1 == 1 {
        return sum as f32;
    }
    // The rounding error lies on the side of its sign.
    let odd = if (lost > 0.0) == (sum > 0.0) { sum.to_bits() + 1 } else { sum.to_bits() - 1 };
    f64::from_bits(odd) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_library() {
        extern crate std;
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(state >> 32).expect("32 bits")
        };
        for i in 0..400_000 {
            let [mut a, mut b, mut c] = [next(), next(), next()];
            if i % 2 == 0 {
                // Few bits and similar exponents: sums that land halfway between two floats.
                [a, b, c] = [a, b, c].map(|x| 0x3F00_0000 | x & 0x80FF_0001 | x >> 9 & 0x0380_0000);
            }
            if i % 5 == 0 {
                // Results around the smallest normal number.
                c &= 0x81FF_FFFF;
                (a, b) = (a & 0xBFFF_FFFF, b & 0x9FFF_FFFF);
            }
            let [a, b, c] = [a, b, c].map(f32::from_bits);
            let (want, got) = (a.mul_add(b, c), mul_add(a, b, c));
            let same = want.to_bits() == got.to_bits() || want.is_nan() && got.is_nan();
            assert!(same, "{a:e} * {b:e} + {c:e}: {want:e} and {got:e}");
        }
    }

    #[test]
    fn a_sum_just_off_halfway_rounds_to_the_correct_side() {
        let power = |exponent: i32| f32::from_bits((127 + exponent).cast_unsigned() << 23);
        // 1 plus slightly more than half a step.
        assert_eq!(mul_add(1.0 + f32::EPSILON, power(-24), 1.0), 1.0 + f32::EPSILON);
        assert_eq!(mul_add(1.0, power(-24), 1.0), 1.0);
        // An odd subnormal plus slightly less than half a step, too little for an f64 to represent.
        let (a, b) = ((1.0 + f32::EPSILON) * power(-75), (1.0 - f32::EPSILON) * power(-75));
        let odd = f32::from_bits(0x0040_0001);
        assert_eq!(mul_add(a, b, odd).to_bits(), odd.to_bits());
        assert_eq!(mul_add(-a, b, -odd).to_bits(), (-odd).to_bits());
    }
}
