//! Scales as they are stored: half precision, little-endian.

use crate::scalar;

/// The bytes of a scale, and the scale a reader finds in them. A NaN has one pattern, wherever it came from.
pub(super) fn half(scale: f32) -> ([u8; 2], f32) {
    let mut code = [0x7E00];
    if !scale.is_nan() {
        scalar::f16_from_f32(&[scale], &mut code);
    }
    let mut stored = [0.0];
    scalar::f16_to_f32(&code, &mut stored);
    (code[0].to_le_bytes(), stored[0])
}
