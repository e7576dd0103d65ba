//! Exponential and logarithm with the same bits on every platform.
//!
//! Those of the standard library come from the operating system and differ in the last bit; those of `libm` take several
//! times as long. Both are evaluated for every row of every round. They consist of basic operations only.

use std::f64::consts::{FRAC_1_SQRT_2, LOG2_E};

/// High and low part of ln 2. The high part has trailing zeros, so that its product with an exponent is exact.
const LN_2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);

/// Coefficients 1/3, 1/5, ... of the series of ln.
const LN: [f64; 10] = {
    let (mut all, mut at) = ([0.0; 10], 0);
    while at < 10 {
        all[at] = 1.0 / (2 * at + 3) as f64;
        at += 1;
    }
    all
};

/// Coefficients 1/2!, 1/3!, ... of the series of exp.
const EXP: [f64; 12] = {
    let (mut all, mut at, mut factorial) = ([0.0; 12], 0, 1.0);
    while at < 12 {
        factorial *= (at + 2) as f64;
        all[at] = 1.0 / factorial;
        at += 1;
    }
    all
};

/// Returns the natural logarithm of a positive normal number, within two units in the last place, or NaN for NaN.
pub(crate) fn ln(x: f64) -> f64 {
    // Write x as m * 2^exponent with m from sqrt(1/2) to sqrt(2).
    let bits = x.to_bits();
    let shifted = bits.wrapping_sub(FRAC_1_SQRT_2.to_bits());
    #[expect(clippy::cast_possible_wrap, reason = "two's complement, as the shift expects")]
    let exponent = ((shifted as i64) >> 52) as i32;
    #[expect(clippy::cast_sign_loss, reason = "two's complement, as the subtraction expects")]
    let m = f64::from_bits(bits.wrapping_sub((i64::from(exponent) as u64) << 52));
    // ln m = 2 atanh(s) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...), where s^2 is below 0.03.
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = LN.iter().rev().fold(0.0, |sum, term| (sum + term) * square);
    let exponent = f64::from(exponent);
    let rest = 2.0 * s * series + exponent * LN_2.1;
    // The last term is 0, or NaN for NaN.
    exponent * LN_2.0 + (2.0 * s + rest) + 0.0 * x
}

/// Returns `e^x`, within two units in the last place.
pub(crate) fn exp(x: f64) -> f64 {
    if x > 709.79 {
        return f64::INFINITY;
    }
    if x < -745.2 {
        return 0.0;
    }
    // Adding and subtracting 1.5 * 2^52 rounds to an integer.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let k = (x * LOG2_E + ROUND) - ROUND;
    // From -ln(2)/2 to ln(2)/2.
    let r = (x - k * LN_2.0) - k * LN_2.1;
    let series = EXP.iter().rev().fold(0.0, |sum, term| (sum + term) * r);
    let power = 1.0 + (r + r * series);
    #[expect(clippy::cast_possible_truncation, reason = "an integer from -1075 to 1024, or 0 for NaN")]
    let k = k as i32;
    // In two steps, because the smallest and the largest power of 2 are not normal numbers.
    power * power_of_2(k >> 1) * power_of_2(k - (k >> 1))
}

/// Returns 2^k for k from -1022 to 1023.
fn power_of_2(k: i32) -> f64 {
    #[expect(clippy::cast_sign_loss, reason = "positive")]
    f64::from_bits(((k + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, what: &str) {
        let unit = expected.abs().next_up() - expected.abs();
        assert!(found == expected || (found - expected).abs() <= 2.0 * unit, "{what}: {found} instead of {expected}");
    }

    #[test]
    fn logarithms_are_within_two_units_in_the_last_place() {
        let mut x = 1e-300_f64;
        while x < 1e300 {
            for x in [x, x.next_up(), 1.0 / x, 1.0 - x.min(0.5), 1.0 + x.min(1.0)] {
                assert_close(ln(x), libm::log(x), &format!("ln {x}"));
            }
            x *= 1.001_37;
        }
        assert_eq!(ln(1.0).to_bits(), 0.0_f64.to_bits());
        assert!(ln(f64::NAN).is_nan());
    }

    #[test]
    fn exponentials_are_within_two_units_in_the_last_place() {
        for step in -75_000..71_000_i32 {
            let x = f64::from(step) * 0.010_001;
            assert_close(exp(x), libm::exp(x), &format!("exp {x}"));
        }
        assert_eq!((exp(0.0), exp(-0.0)), (1.0, 1.0));
        assert_eq!(
            (exp(f64::INFINITY), exp(f64::NEG_INFINITY), exp(-1e300), exp(1e300)),
            (f64::INFINITY, 0.0, 0.0, f64::INFINITY)
        );
        assert!(exp(f64::NAN).is_nan());
    }
}
