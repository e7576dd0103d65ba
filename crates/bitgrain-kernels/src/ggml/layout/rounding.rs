//! Rounding of quotients to codes. Non-finite quotients give 0, as the casts of the reference do on x86.

/// Truncates a number that is below 128 if it is finite; 0 for negative numbers.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 127")]
pub(super) fn truncated(value: f32) -> u8 {
    // Also false for NaN.
    let small = value < 128.0;
    (if small { value } else { 0.0 }) as u8
}

/// Rounds to the nearest integer, halves away from zero, a number of magnitude at most 127 if it is finite.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "from -127 to 127")]
pub(super) fn nearest(value: f32) -> i8 {
    // The largest f32 below one half: adding one half would round 0.49999997 to 1. Exact below 2^22.
    const ALMOST_HALF: f32 = 0.499_999_97;
    let moved = value + ALMOST_HALF.copysign(value);
    let small = moved.abs() < 128.0;
    (if small { moved } else { 0.0 }) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_their_neighbors_round_as_the_c_library_does() {
        for k in -127..=126_i8 {
            let half = f32::from(k) + 0.5;
            let (below, above) = (half.next_down(), half.next_up());
            assert_eq!(nearest(below), k, "{below}");
            assert_eq!(nearest(above), k + 1, "{above}");
            assert_eq!(nearest(half), if half > 0.0 { k + 1 } else { k }, "{half}");
        }
        assert_eq!([0.0, -0.0, 1e-45, 127.4].map(nearest), [0, 0, 0, 127]);
    }

    #[test]
    fn non_finite_values_round_to_zero() {
        for odd in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!((truncated(odd), nearest(odd)), (0, 0));
        }
    }
}
