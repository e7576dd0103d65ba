//! Thresholds in other precisions than that of the model.

use crate::model::{Comparison, Missing, Split};

/// Returns the f64 threshold that sends every f64 value to the same side as the model does.
///
/// If the model rounds values to f32, this is the largest f64 that rounds to at most the threshold: the midpoint between
/// the threshold and the next f32, or the number before it if the midpoint rounds up.
pub(super) fn wide(threshold: f64, comparison: Comparison) -> f64 {
    if comparison == Comparison::F64 || threshold == f64::INFINITY {
        return threshold;
    }
    let low = narrow(threshold);
    // As if f32 had a larger exponent: f64 values round to infinity from half a step above the largest f32 on.
    let step_above = |value: f32| match value {
        f32::MAX => f64::from(f32::MAX) + 2.0_f64.powi(104),
        value => value.next_up().into(),
    };
    if low == f32::NEG_INFINITY {
        // The midpoint itself rounds to infinity, whose last bit counts as even.
        return -(f64::from(f32::MAX) + 2.0_f64.powi(103));
    }
    let middle = f64::midpoint(low.into(), step_above(low));
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what is tested")]
    let is_left = middle as f32 <= low;
    if is_left { middle } else { middle.next_down() }
}

/// Returns the largest f32 that is at most the threshold: f32 values go to the same side of both.
pub(super) fn narrow(threshold: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounded down below")]
    let nearest = threshold as f32;
    if f64::from(nearest) > threshold { nearest.next_down() } else { nearest }
}

/// Returns the side of NaN at a numeric split, for formats in which only NaN can be missing.
pub(super) fn nan_left(split: &Split, threshold: f64) -> Result<bool, &'static str> {
    let zero_left = 0.0 <= threshold;
    match split.missing {
        Missing::Nan => Ok(split.missing_left),
        // NaN is compared as 0.
        Missing::Nothing => Ok(zero_left),
        // Zeros go with missing values anyway.
        Missing::NanOrZero if split.missing_left == zero_left && threshold.abs() > Missing::ZERO => Ok(zero_left),
        Missing::NanOrZero => Err("treats 0 as a missing value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(threshold: f32, value: f64) {
        #[expect(clippy::cast_possible_truncation, reason = "as in prediction")]
        let is_left = value as f32 <= threshold;
        assert_eq!(value <= wide(threshold.into(), Comparison::F32), is_left, "{value:e} at {threshold:e}");
    }

    #[test]
    fn wide_thresholds_are_tight_at_every_kind_of_f32() {
        let edges = [0.0, -0.0, 1e-45, -1e-45, f32::MIN_POSITIVE, 1.0, -1.5, 0.1, f32::MAX, f32::MIN];
        for threshold in edges.into_iter().chain([f32::INFINITY, f32::NEG_INFINITY]) {
            let own = wide(threshold.into(), Comparison::F32);
            let near = [own, own.next_up(), own.next_down(), f64::from(threshold), f64::INFINITY, f64::NEG_INFINITY];
            near.into_iter().chain([0.0, -0.0, f64::MAX, f64::MIN, 5e-324]).for_each(|value| check(threshold, value));
        }
    }

    proptest! {
        #[test]
        fn wide_thresholds_decide_as_rounding_to_f32(bits in any::<u32>(), steps in -3_i64..3, value in any::<f64>()) {
            let threshold = f32::from_bits(bits);
            prop_assume!(!threshold.is_nan());
            check(threshold, value);
            let own = wide(threshold.into(), Comparison::F32);
            let near = (0..steps.abs()).fold(own, |at, _| if steps > 0 { at.next_up() } else { at.next_down() });
            check(threshold, near);
        }

        #[test]
        fn narrow_thresholds_decide_the_same_for_f32(threshold in any::<f64>(), bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(!threshold.is_nan() && !value.is_nan());
            prop_assert_eq!(value <= narrow(threshold), f64::from(value) <= threshold);
            let near = narrow(threshold);
            for value in [near, near.next_up(), near.next_down()] {
                prop_assert_eq!(value <= narrow(threshold), f64::from(value) <= threshold);
            }
        }
    }
}
