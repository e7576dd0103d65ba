//! What a split asks of one value: the definition that codes and tables are made from.

use crate::model::{CategorySet, Comparison, InputKind, Missing, Rule, Split};

/// A value that is no category: in no set, and not missing.
const NO_CATEGORY: f64 = -1.0;

/// Numbers up to this far from zero count as zero where zero is missing. LightGBM's constant, an f32.
const ZERO: f32 = 1e-35;

/// Whether a value counts as zero where zero is missing.
pub(super) fn is_zero(value: f64) -> bool {
    value.abs() <= f64::from(ZERO)
}

/// Whether a split sends a value left. The value was made [`comparable`] before.
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

/// A value as splits take it: rounded if the model compares in f32 or lists its categories; categories that are not listed
/// are missing.
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

/// A value of a feature that lists its categories: rounded to f32, as training does, as far as f32 holds all codes.
pub(super) fn as_code(value: f64) -> f64 {
    if value.abs() < 16_777_216.0 { f64::from(rounded(value)) } else { value }
}

/// Whether a value is one of some codes, which ascend.
pub(super) fn is_known(known: &[u32], value: f64) -> bool {
    category(value).is_some_and(|code| f64::from(code) == value && known.binary_search(&code).is_ok())
}

/// The category of a value: what is behind the point is cut off. None of negative numbers, nor of too large ones.
pub(super) fn category(value: f64) -> Option<u32> {
    let whole = value.trunc();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range, and whole")]
    (0.0..2_147_483_648.0).contains(&whole).then_some(whole as u32)
}

fn is_in(set: &CategorySet, value: f64) -> bool {
    category(value).is_some_and(|code| set.contains(code))
}

/// The nearest f32.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the rule")]
pub(super) fn rounded(value: f64) -> f32 {
    value as f32
}

/// The largest f32 that is at most a threshold: f32 values are at most the one if and only if at most the other.
pub(super) fn rounded_down(threshold: f64) -> f32 {
    let nearest = rounded(threshold);
    if f64::from(nearest) > threshold { nearest.next_down() } else { nearest }
}

/// The largest f64 that, rounded to the nearest f32, is at most a threshold: what saves rounding the values.
pub(crate) fn rounding_limit(threshold: f64) -> f64 {
    /// Halfway from the largest f32 to the next power of two, where rounding turns to infinity.
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
    fn limits_separate_what_rounds_to_the_threshold_from_what_rounds_above() {
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
    fn categories_are_cut_to_whole_numbers() {
        assert_eq!([0.0, 0.9, -0.5, 7.0, 2_147_483_647.5].map(category), [0, 0, 0, 7, 0x7FFF_FFFF].map(Some));
        assert_eq!([-1.0, 2_147_483_648.0, f64::INFINITY, f64::NAN].map(category), [None; 4]);
        assert!(is_known(&[0, 7], -0.0) && is_known(&[0, 7], 7.0) && !is_known(&[0, 7], 7.5) && !is_known(&[0], -0.5));
    }
}
