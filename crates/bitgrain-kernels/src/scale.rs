//! Scale of a block: the step between two codes, chosen so that no code decodes to an infinity.

use crate::BitWidth;

/// Returns the scale of a block whose largest magnitude is `max_abs`: `max_abs / qmax`, rounded to nearest.
///
/// The rule has two exceptions. A subnormal quotient is rounded *up*, because rounding it down would clamp the largest
/// values by many steps. If `qmax * scale` would overflow, the scale is one ulp smaller. Zero if `max_abs` is zero,
/// negative or not finite.
///
/// ```
/// use bitgrain_kernels::BitWidth;
/// use bitgrain_kernels::blocks::block_scale;
/// assert_eq!(block_scale(BitWidth::W8, 1.27), 0.01);
/// assert_eq!(block_scale(BitWidth::W8, 1e-45), 1e-45); // not zero: the value stays
/// assert!((127.0 * block_scale(BitWidth::W8, f32::MAX)).is_finite());
/// ```
#[must_use]
pub fn block_scale(width: BitWidth, max_abs: f32) -> f32 {
    if !(max_abs > 0.0 && max_abs.is_finite()) {
        return 0.0;
    }
    scale_of(max_abs, width.qmax())
}

/// Returns the [`block_scale`] of a `max_abs` that is known to be finite and non-negative.
#[inline]
pub(crate) fn scale_of(max_abs: f32, qmax: u8) -> f32 {
    let scale = max_abs / f32::from(qmax);
    // A single range check keeps both exceptions off the hot path: every overflowing case is above 2^127.
    if scale >= f32::MIN_POSITIVE && max_abs < 1.701_411_8e38 { scale } else { corner_scale(max_abs, qmax) }
}

#[cold]
fn corner_scale(max_abs: f32, qmax: u8) -> f32 {
    let scale = max_abs / f32::from(qmax);
    if scale < f32::MIN_POSITIVE {
        // Subnormals are multiples of 2^-149; scaling by 2^149, in two exact factors, makes them integers.
        let units = max_abs * 37_778_931_862_957_161_709_568.0 * 18_889_465_931_478_580_854_784.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer below 2^30")]
        let units = units as u32;
        return f32::from_bits(units.div_ceil(u32::from(qmax)));
    }
    if (scale * f32::from(qmax)).is_finite() { scale } else { scale.next_down() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_rounds_to_at_most_qmax_in_every_corner() {
        let tiny = (1..2000).map(f32::from_bits);
        let around_normal = (0..300).map(|k| f32::MIN_POSITIVE * (k as f32 + 0.37));
        let huge = (0..2000).map(|k| f32::from_bits(f32::MAX.to_bits() - k * 1001));
        for max_abs in tiny.chain(around_normal).chain(huge) {
            for width in BitWidth::ALL {
                let (scale, qmax) = (block_scale(width, max_abs), f32::from(width.qmax()));
                if max_abs == 0.0 {
                    continue;
                }
                assert!(scale > 0.0 && (scale * qmax).is_finite(), "{width:?} {max_abs:e}");
                assert!(max_abs / scale < qmax + 0.5, "{width:?} {max_abs:e} gives {scale:e}");
            }
        }
    }

    #[test]
    fn zero_and_impossible_maxima_give_zero() {
        for odd in [0.0, -0.0, -1.0, f32::INFINITY, f32::NAN] {
            assert_eq!(block_scale(BitWidth::W3, odd).to_bits(), 0);
        }
    }
}
