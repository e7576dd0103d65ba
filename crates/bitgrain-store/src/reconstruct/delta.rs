//! Reconstruction as the sum of a base and a delta.

use super::{Approximate, UNIT, bound_of, checked_max};
use crate::StoreError;

/// Adds `delta` to `base`. The bound of the sum is the sum of both bounds plus the rounding error.
///
/// ```
/// use bitgrain_store::reconstruct::{Approximate, apply_delta};
/// let base = Approximate { values: vec![1.0, 2.0], bound: 0.25 };
/// let sum = apply_delta(base, &Approximate { values: vec![0.5, -0.5], bound: 0.125 })?;
/// assert_eq!(sum.values, [1.5, 1.5]);
/// assert!((sum.bound - 0.375).abs() < 1e-6);
/// # Ok::<(), bitgrain_store::StoreError>(())
/// ```
///
/// # Errors
/// Returns [`StoreError::ShapeMismatch`] or [`StoreError::ReconstructionOverflow`].
pub fn apply_delta(mut base: Approximate, delta: &Approximate) -> Result<Approximate, StoreError> {
    same_len(base.values.len(), delta.values.len())?;
    for (value, delta) in base.values.iter_mut().zip(&delta.values) {
        *value += delta;
    }
    let rounding = f64::from(checked_max(&base.values)?) * UNIT;
    base.bound = bound_of(f64::from(base.bound) + f64::from(delta.bound) + rounding);
    Ok(base)
}

/// Returns the delta from `base` to `wanted`; its bound is the rounding error, before encoding.
///
/// `base` are the values as currently read, so that their error is absorbed by the delta and not part of the result.
///
/// # Errors
/// Returns [`StoreError::ShapeMismatch`], or [`StoreError::ReconstructionOverflow`] if a difference exceeds the range
/// of f32.
pub fn delta_between(wanted: &[f32], base: &[f32]) -> Result<Approximate, StoreError> {
    same_len(base.len(), wanted.len())?;
    let values: Vec<f32> = wanted.iter().zip(base).map(|(wanted, base)| wanted - base).collect();
    let bound = bound_of(f64::from(checked_max(&values)?) * UNIT);
    Ok(Approximate { values, bound })
}

fn same_len(expected: usize, got: usize) -> Result<(), StoreError> {
    if expected == got { Ok(()) } else { Err(StoreError::ShapeMismatch { expected, got }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitgrain_codec::{BitWidth, BlockFormat};
    use proptest::prelude::*;

    fn error(a: f32, b: f32) -> f64 {
        (f64::from(a) - f64::from(b)).abs()
    }

    /// Encodes and decodes values like a store, with the bound.
    fn stored(width: BitWidth, values: &[f32]) -> Approximate {
        let format = BlockFormat::new(width);
        let bytes = format.encode(values).expect("finite");
        let bound = format.bound(&bytes, values.len()).expect("just written");
        Approximate { values: format.decode(&bytes, values.len()).expect("just written"), bound }
    }

    proptest! {
        #[test]
        fn a_tensor_is_reconstructed_from_base_and_delta_within_its_bound(
            pairs in prop::collection::vec((-1e3_f32..1e3, -1.0_f32..1.0), 1..300), exponent in -120..116_i32,
        ) {
            let size = 2.0_f32.powi(exponent);
            let original: Vec<f32> = pairs.iter().map(|(base, _)| base * size).collect();
            let wanted: Vec<f32> = pairs.iter().map(|(base, delta)| (base + delta) * size).collect();
            let base = stored(BitWidth::W8, &original);
            let exact = delta_between(&wanted, &base.values).expect("in range");
            let mut delta = stored(BitWidth::W5, &exact.values);
            delta.bound += exact.bound;
            let sum = apply_delta(base, &delta).expect("in range");
            // The delta absorbed the base's error, so the result is far below the base's bound.
            for (wanted, got) in wanted.iter().zip(&sum.values) {
                prop_assert!(error(*wanted, *got) <= f64::from(sum.bound));
            }
            // If the base is re-encoded later, its bound grows by as much as its values may have changed.
            let coarser = stored(BitWidth::W3, &original);
            let sum = apply_delta(coarser, &delta).expect("in range");
            for (wanted, got) in wanted.iter().zip(&sum.values) {
                prop_assert!(error(*wanted, *got) <= f64::from(sum.bound) + f64::from(stored(BitWidth::W8, &original).bound));
            }
        }
    }

    #[test]
    fn sums_beyond_f32_are_rejected_with_their_index() {
        let base = Approximate { values: vec![0.0, f32::MAX], bound: 0.0 };
        let delta = Approximate { values: vec![1.0, f32::MAX], bound: 0.0 };
        assert!(matches!(apply_delta(base, &delta), Err(StoreError::ReconstructionOverflow { index: 1 })));
        let apart = delta_between(&[f32::MAX], &[f32::MIN]);
        assert!(matches!(apart, Err(StoreError::ReconstructionOverflow { index: 0 })));
    }

    #[test]
    fn different_lengths_are_rejected() {
        let one = Approximate { values: vec![1.0], bound: 0.0 };
        let none = Approximate { values: vec![], bound: 0.0 };
        assert!(matches!(apply_delta(one, &none), Err(StoreError::ShapeMismatch { expected: 1, got: 0 })));
        assert!(delta_between(&[], &[1.0]).is_err());
    }

    #[test]
    fn rounding_is_part_of_the_bound() {
        let base = Approximate { values: vec![16_777_216.0], bound: 0.0 };
        let sum = apply_delta(base, &Approximate { values: vec![1.0], bound: 0.0 }).expect("in range");
        // The exact sum is halfway between two f32 numbers.
        assert_eq!((sum.values[0], sum.bound), (16_777_216.0, 1.0));
    }
}
