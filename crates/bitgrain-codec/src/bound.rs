//! How far a decoded value can be from the original: half a step, plus what float arithmetic rounds away.

use bitgrain_kernels::{BitWidth, block_scale};

/// Largest possible `|x - x'|` in a block whose largest magnitude is `max_abs`: `max_abs / (2 * qmax)` and the
/// rounding of the scale, the quotient and the product, at most `4 * qmax * 2^-24` of a step together.
///
/// ```
/// use bitgrain_codec::{BitWidth, bound};
/// assert!((bound(BitWidth::W8, 127.0) - 0.5).abs() < 1e-4);
/// assert!((bound(BitWidth::W3, 3.0) - 0.5).abs() < 1e-4);
/// ```
#[must_use]
pub fn bound(width: BitWidth, max_abs: f32) -> f32 {
    bound_of_scale(width, block_scale(width, max_abs))
}

/// [`bound`] from the scale a block stores.
#[must_use]
pub fn bound_of_scale(width: BitWidth, scale: f32) -> f32 {
    let roundings = 4.0 * f64::from(width.qmax()) / f64::from(1 << 24);
    let exact = f64::from(scale) * (0.5 + roundings);
    #[expect(clippy::cast_possible_truncation, reason = "rounded up on the next line")]
    let near = exact as f32;
    if f64::from(near) < exact { near.next_up() } else { near }
}

/// Largest possible error of a frame whose largest magnitude is `max_abs` when its block reuses a scale that
/// [`scale_fits`] allowed at this `drift`: `max_abs / (2 * qmax * (1 - drift))`.
///
/// ```
/// use bitgrain_codec::{BitWidth, bound, bound_with_drift};
/// let (fresh, reused) = (bound(BitWidth::W8, 1.0), bound_with_drift(BitWidth::W8, 1.0, 0.1));
/// assert!((reused / fresh - 1.0 / 0.9).abs() < 1e-5);
/// ```
#[must_use]
pub fn bound_with_drift(width: BitWidth, max_abs: f32, drift: f32) -> f32 {
    // The widest scale the rule lets through, with room for the rounding of the comparison.
    let widest = f64::from(max_abs) / (f64::from(width.qmax()) * (1.0 - f64::from(drift)));
    #[expect(clippy::cast_possible_truncation, reason = "rounded up at once")]
    let widest = (widest as f32).next_up();
    bound_of_scale(width, widest)
}

/// True if a frame whose largest magnitude is `max_abs` may be encoded with `scale`: nothing would be clamped, and at
/// most the share `drift` of the range would lie idle.
///
/// The rule is `(1 - drift) * qmax * scale <= max_abs <= (qmax + 1/2) * scale`. Beyond the upper end, values would be
/// clamped and the error of half a step no longer held; there a new scale is due.
#[must_use]
pub fn scale_fits(width: BitWidth, scale: f32, max_abs: f32, drift: f32) -> bool {
    let (scale, max_abs, qmax) = (f64::from(scale), f64::from(max_abs), f64::from(width.qmax()));
    (1.0 - f64::from(drift)) * qmax * scale <= max_abs && max_abs <= (qmax + 0.5) * scale
}

/// True if `scale`, read from bytes, is not negative and decodes every code to a finite value.
pub(crate) fn usable_scale(width: BitWidth, scale: f32) -> bool {
    let largest = scale * f32::from(width.qmax());
    largest.is_finite() && largest.is_sign_positive()
}
