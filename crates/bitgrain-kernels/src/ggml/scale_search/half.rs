//! Stored scales: half precision, little-endian.

use crate::scalar;

/// Returns the bytes of a scale and the scale that a reader decodes from them. Every NaN has the same pattern.
pub(super) fn half(scale: f32) -> ([u8; 2], f32) {
    let mut code = [0x7E00];
    if !scale.is_nan() {
        scalar::f16_from_f32(&[scale], &mut code);
    }
    let mut stored = [0.0];
    scalar::f16_to_f32(&code, &mut stored);
    (code[0].to_le_bytes(), stored[0])
}
