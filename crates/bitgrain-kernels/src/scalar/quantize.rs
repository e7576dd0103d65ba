//! Conversion between values and codes: the definition.

use crate::BitWidth;

/// `1.5 * 2^23`: adding it to a value below 2^22 rounds the value to an integer, ties to even, and leaves that in the
/// low bits. `round_ties_even` is a library call on x86-64 without SSE4.1, and not in core.
const ROUNDER: f32 = 12_582_912.0;

/// Quantizes `values` with `scale`: divides, rounds ties to even, clamps. NaN and a zero scale give 0.
pub(crate) fn quantize(width: BitWidth, values: &[f32], scale: f32, codes: &mut [i8]) {
    if scale == 0.0 {
        codes.fill(0);
        return;
    }
    let qmax = f32::from(width.qmax());
    for (code, &value) in codes.iter_mut().zip(values) {
        let quotient = value / scale;
        let quotient = if quotient.is_nan() { 0.0 } else { quotient };
        // Clamping before rounding gives the same result, because qmax is an integer.
        let rounded = quotient.clamp(-qmax, qmax) + ROUNDER;
        #[expect(clippy::cast_possible_truncation, reason = "the code is the low byte")]
        let low = rounded.to_bits() as u8;
        *code = low.cast_signed();
    }
}

/// Computes `code * scale`.
pub(crate) fn dequantize(codes: &[i8], scale: f32, out: &mut [f32]) {
    for (value, &code) in out.iter_mut().zip(codes) {
        *value = f32::from(code) * scale;
    }
}
