//! FP8 and FP4: the definition, one rule for every format.

use crate::minifloat::Minifloat;

/// Converts f32 to codes, ties to even, saturating.
#[expect(clippy::cast_possible_truncation, reason = "a code has at most 8 bits")]
pub(crate) fn minifloat_from_f32<F: Minifloat>(values: &[f32], out: &mut [u8]) {
    for (code, value) in out.iter_mut().zip(values) {
        let sign = value.to_bits() >> (32 - F::BITS) & F::SIGN;
        let magnitude = value.abs();
        *code = if magnitude.is_nan() {
            if F::NAN == 0 { 0 } else { (F::NAN | sign) as u8 }
        } else {
            let magnitude = if magnitude < F::MAX { magnitude } else { F::MAX };
            let bits = magnitude.to_bits();
            let half = (1 << (F::SHIFT - 1)) - 1;
            let normal = ((bits + half + (bits >> F::SHIFT & 1)) >> F::SHIFT).wrapping_sub(F::REBIAS);
            let subnormal = (magnitude + F::SUBNORMAL_MAGIC).to_bits() & (F::SIGN - 1);
            (sign | if magnitude < F::MIN_NORMAL { subnormal } else { normal }) as u8
        };
    }
}

/// Converts codes to f32 exactly; bits above the format's width are ignored.
pub(crate) fn minifloat_to_f32<F: Minifloat>(codes: &[u8], out: &mut [f32]) {
    for (value, &code) in out.iter_mut().zip(codes) {
        let code = u32::from(code);
        let sign = (code & F::SIGN) << (32 - F::BITS);
        let magnitude = code & (F::SIGN - 1);
        let bits = if F::INFINITY.is_some_and(|infinity| magnitude == infinity) {
            0x7F80_0000
        } else if F::NAN != 0 && magnitude >= F::NAN.min(F::INFINITY.unwrap_or(F::NAN)) {
            0x7FC0_0000
        } else if magnitude < 1 << F::MANTISSA {
            #[expect(clippy::cast_precision_loss, reason = "a mantissa of at most 3 bits")]
            let steps = magnitude as f32;
            (steps * F::STEP).to_bits()
        } else {
            (magnitude + F::REBIAS) << F::SHIFT
        };
        *value = f32::from_bits(sign | bits);
    }
}
