//! Evaluation of a split for one value: the definition from which codes and tables are derived.

use crate::model::{CategorySet, Comparison, InputKind, Missing, Rule, Split};

/// A value without a category: in no set, and not missing.
const NO_CATEGORY: f64 = -1.0;

/// Largest magnitude that counts as zero where zero is missing. LightGBM's constant, an f32.
const ZERO: f32 = 1e-35;

/// Returns whether a value counts as zero where zero is missing.
pub(super) fn is_zero(value: f64) -> bool {
    value.abs() <= f64::from(ZERO)
}

/// Returns whether a split sends a value left. The value must be [`comparable`].
pub(super) fn goes_left(split: &Split, value: f64) -> bool {
    let value = match split.missing {
        Missing::Nan if value.is_nan() => return split.missing_left,
        Missing::NanOrZero if value.is_nan() || is_zero(value) => return split.missing_left,
        Missing::Nothing if value.is_nan() => 0.0,
        _ => value,
    };
    match &split.rule {
        Rule::AtMost(threshold) => value <= *threshold,
        Rule::In(set) => is_in(set, value),
        Rule::NotIn(set) => !is_in(set, value),
    }
}

/// Normalizes a value as splits compare it: rounded if the model compares in f32 or lists its categories; unlisted
/// categories become missing.
pub(super) fn comparable(value: f64, comparison: Comparison, kind: &InputKind) -> f64 {
    let value = match comparison {
        Comparison::F32 => f64::from(rounded(value)),
        Comparison::F64 => value,
    };
    match kind {
        InputKind::Categorical { known: Some(known), .. } => {
            let value = as_code(value);
            if is_known(known, value) { value } else { f64::NAN }
        }
        InputKind::Categorical { known: None, .. } if comparison == Comparison::F32 && value < 0.0 => NO_CATEGORY,
        _ => value,
    }
}

/// Rounds a value of a feature with known categories to f32, as training does, in the range where f32 holds all codes.
pub(super) fn as_code(value: f64) -> f64 {
    if value.abs() < 16_777_216.0 { f64::from(rounded(value)) } else { value }
}

/// Returns whether a value is one of the ascending codes.
pub(super) fn is_known(known: &[u32], value: f64) -> bool {
    category(value).is_some_and(|code| f64::from(code) == value && known.binary_search(&code).is_ok())
}

/// Returns the category of a value, its integer part; `None` for negative and for too large numbers.
pub(super) fn category(value: f64) -> Option<u32> {
    let whole = value.trunc();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer in range")]
    (0.0..2_147_483_648.0).contains(&whole).then_some(whole as u32)
}

fn is_in(set: &CategorySet, value: f64) -> bool {
    category(value).is_some_and(|code| set.contains(code))
}

/// Rounds to the nearest f32.
#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(super) fn rounded(value: f64) -> f32 {
    value as f32
}

/// Returns the largest f32 up to a threshold. f32 values compare the same with either.
pub(super) fn rounded_down(threshold: f64) -> f32 {
    let nearest = rounded(threshold);
    if f64::from(nearest) > threshold { nearest.next_down() } else { nearest }
}

/// Returns the largest f64 that rounds to an f32 up to a threshold, so that values need not be rounded before
/// comparing.
pub(crate) fn rounding_limit(threshold: f64) -> f64 {
    /// Midpoint of the largest f32 and 2^128, from which values round to infinity.
    const OVERFLOW: f64 = 340_282_356_779_733_661_637_539_395_458_142_568_448.0;
    let below = rounded_down(threshold);
    let halfway = match (below, below.next_up()) {
        (f32::INFINITY, _) => return f64::INFINITY,
        (f32::NEG_INFINITY, _) => -OVERFLOW,
        (_, f32::INFINITY) => OVERFLOW,
        (below, above) => f64::midpoint(f64::from(below), f64::from(above)),
    };
    if rounded(halfway) <= below { halfway } else { halfway.next_down() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_separate_values_that_round_to_the_threshold_from_those_above() {
        let tiny = f64::from(f32::from_bits(1));
        let max = f64::from(f32::MAX);
        for threshold in [0.0, -0.0, 1.0, -1.0, 0.1, f64::from(0.1_f32), 1e-300, -1e-300, tiny, -tiny, max, -max, 1e300]
        {
            let limit = rounding_limit(threshold);
            assert!(f64::from(rounded(limit)) <= threshold, "{limit:e} at {threshold:e}");
            assert!(f64::from(rounded(limit.next_up())) > threshold, "above {limit:e} at {threshold:e}");
        }
        assert_eq!(rounding_limit(f64::INFINITY), f64::INFINITY);
        let lowest = rounding_limit(f64::NEG_INFINITY);
        assert!(rounded(lowest) == f32::NEG_INFINITY && rounded(lowest.next_up()) == f32::MIN);
    }

    #[test]
    fn categories_are_truncated_to_integers() {
        assert_eq!([0.0, 0.9, -0.5, 7.0, 2_147_483_647.5].map(category), [0, 0, 0, 7, 0x7FFF_FFFF].map(Some));
        assert_eq!([-1.0, 2_147_483_648.0, f64::INFINITY, f64::NAN].map(category), [None; 4]);
        assert!(is_known(&[0, 7], -0.0) && is_known(&[0, 7], 7.0) && !is_known(&[0, 7], 7.5) && !is_known(&[0], -0.5));
    }
}
