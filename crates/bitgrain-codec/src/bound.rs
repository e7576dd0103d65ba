//! Error bounds: half a quantization step plus the rounding errors of f32 arithmetic.

use bitgrain_kernels::BitWidth;
use bitgrain_kernels::blocks::block_scale;

use crate::CodecErr;

/// Returns the largest possible `|x - x'|` in a block whose largest magnitude is `max_abs`: half a step, which is
/// `max_abs / (2 * qmax)` unless that is subnormal, plus the rounding of the scale, the quotient and the product,
/// together at most `4 * qmax * 2^-24` of a step. Infinite if `max_abs` is negative or not finite.
///
/// ```
/// use bitgrain_codec::{BitWidth, bound};
/// assert!((bound(BitWidth::W8, 127.0) - 0.5).abs() < 1e-4);
/// assert!((bound(BitWidth::W3, 3.0) - 0.5).abs() < 1e-4);
/// ```
#[must_use]
pub fn bound(width: BitWidth, max_abs: f32) -> f32 {
    if max_abs >= 0.0 && max_abs.is_finite() {
        bound_of_scale(width, block_scale(width, max_abs))
    } else {
        f32::INFINITY
    }
}

/// Returns the [`bound`] that follows from a block's stored scale. Infinite for an invalid scale.
#[must_use]
pub fn bound_of_scale(width: BitWidth, scale: f32) -> f32 {
    if !usable_scale(width, scale) {
        return f32::INFINITY;
    }
    let roundings = 4.0 * f64::from(width.qmax()) / f64::from(1 << 24);
    let exact = f64::from(scale) * (0.5 + roundings);
    #[expect(clippy::cast_possible_truncation, reason = "rounded up on the next line")]
    let near = exact as f32;
    if f64::from(near) < exact { near.next_up() } else { near }
}

/// Share of a scale's range that may stay unused when a later frame reuses the scale: at least 0 and below 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift(f32);

impl Drift {
    /// Creates a tolerance of `share`, such as 0.1 for a tenth.
    ///
    /// # Errors
    /// Returns [`CodecErr::InvalidDrift`] unless `share` is at least 0 and below 1.
    pub fn new(share: f32) -> Result<Self, CodecErr> {
        if (0.0..1.0).contains(&share) { Ok(Self(share)) } else { Err(CodecErr::InvalidDrift { share }) }
    }

    /// Returns the share, at least 0 and below 1.
    #[must_use]
    pub const fn share(self) -> f32 {
        self.0
    }
}

/// A tolerance of one tenth.
impl Default for Drift {
    fn default() -> Self {
        Self(0.1)
    }
}

/// Returns the largest possible error of a frame whose largest magnitude is `max_abs` when its block reuses a scale
/// that [`scale_fits`] accepted at this `drift`: `max_abs / (2 * qmax * (1 - drift))`. Infinite if `max_abs` is
/// negative or not finite.
///
/// ```
/// use bitgrain_codec::{BitWidth, Drift, bound, bound_with_drift};
/// let (fresh, reused) = (bound(BitWidth::W8, 1.0), bound_with_drift(BitWidth::W8, 1.0, Drift::new(0.1)?));
/// assert!((reused / fresh - 1.0 / 0.9).abs() < 1e-5);
/// # Ok::<(), bitgrain_codec::CodecErr>(())
/// ```
#[must_use]
pub fn bound_with_drift(width: BitWidth, max_abs: f32, drift: Drift) -> f32 {
    if !(max_abs >= 0.0 && max_abs.is_finite()) {
        return f32::INFINITY;
    }
    // The widest scale that `scale_fits` accepts, with a margin for the rounding of its comparison.
    let widest = f64::from(max_abs) / (f64::from(width.qmax()) * (1.0 - f64::from(drift.0)));
    #[expect(clippy::cast_possible_truncation, reason = "rounded up at once")]
    let widest = (widest as f32).next_up().max(block_scale(width, max_abs));
    // No valid block has a larger scale than that of `f32::MAX`.
    bound_of_scale(width, widest.min(block_scale(width, f32::MAX)))
}

/// Returns whether a frame whose largest magnitude is `max_abs` may be encoded with `scale`: no value is off by more
/// than half a step, and at most the share `drift` of the range stays unused.
///
/// The rule is `(1 - drift) * qmax * scale <= max_abs <= (qmax + 1/2) * scale`. Above the upper limit, clamping would
/// cost more than half a step, so a new scale is needed. The frame's own scale always fits, even if rounding put it
/// below the lower limit; an invalid scale never fits.
#[must_use]
pub fn scale_fits(width: BitWidth, scale: f32, max_abs: f32, drift: Drift) -> bool {
    if !usable_scale(width, scale) || !max_abs.is_finite() {
        return false;
    }
    if scale == block_scale(width, max_abs) {
        return true;
    }
    let (scale, max_abs, qmax) = (f64::from(scale), f64::from(max_abs), f64::from(width.qmax()));
    (1.0 - f64::from(drift.0)) * qmax * scale <= max_abs && max_abs <= (qmax + 0.5) * scale
}

/// Returns whether a stored `scale` is non-negative and decodes every code to a finite value.
pub(crate) fn usable_scale(width: BitWidth, scale: f32) -> bool {
    let largest = scale * f32::from(width.qmax());
    largest.is_finite() && largest.is_sign_positive()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_maxima_and_scales_have_no_finite_bound() {
        for odd in [f32::NAN, f32::INFINITY, -1.0] {
            assert_eq!(bound(BitWidth::W8, odd), f32::INFINITY);
            assert_eq!(bound_of_scale(BitWidth::W8, odd), f32::INFINITY);
        }
        assert_eq!(bound(BitWidth::W8, 0.0), 0.0);
    }

    #[test]
    fn drift_is_from_zero_to_less_than_one() {
        for share in [-0.1, 1.0, f32::NAN, f32::INFINITY] {
            assert!(matches!(Drift::new(share), Err(CodecErr::InvalidDrift { .. })));
        }
        assert!(Drift::new(0.0).is_ok());
    }

    #[test]
    fn a_frame_fits_its_own_scale_with_a_finite_bound() {
        for drift in [0.0, 0.1].map(|share| Drift::new(share).expect("in range")) {
            for max_abs in [0.0, 1e-45, 1e-43, 1e-40, 0.1, 0.7, 3.2e38, f32::MAX] {
                for width in BitWidth::ALL {
                    let scale = block_scale(width, max_abs);
                    assert!(scale_fits(width, scale, max_abs, drift), "{width:?} {max_abs:e}");
                    let allowed = bound_with_drift(width, max_abs, drift);
                    assert!(allowed.is_finite() && bound_of_scale(width, scale) <= allowed, "{width:?} {max_abs:e}");
                }
            }
        }
    }

    #[test]
    fn a_scale_that_readers_reject_never_fits() {
        let drift = Drift::new(0.1).expect("in range");
        let too_large = (f32::MAX / 127.0).next_up();
        assert!(!scale_fits(BitWidth::W8, too_large, f32::MAX, drift));
        assert!(scale_fits(BitWidth::W8, block_scale(BitWidth::W8, f32::MAX), f32::MAX, drift));
    }
}
