//! Half precision and bfloat16: the definition, with the rounding of F16C.

/// Converts f32 to IEEE half precision, ties to even.
pub(crate) fn f16_from_f32(values: &[f32], out: &mut [u16]) {
    for (half, value) in out.iter_mut().zip(values) {
        *half = f16_of(*value);
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "every branch ends with 15 bits and a sign")]
pub(crate) fn f16_of(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7FFF_FFFF;
    let half = if magnitude > 0x7F80_0000 {
        0x7E00 | (magnitude >> 13 & 0x3FF) as u16
    } else if magnitude >= 0x4780_0000 {
        0x7C00 // at least 65536; values from 65520 to 65536 are rounded up to infinity below
    } else if magnitude >= 0x3880_0000 {
        // Normal: re-bias the exponent by 112 and round off 13 bits.
        ((magnitude - 0x3800_0000 + 0xFFF + (magnitude >> 13 & 1)) >> 13) as u16
    } else {
        // Subnormal or zero: adding 0.5 rounds to a multiple of 2^-24, which is then in the low bits.
        (f32::from_bits(magnitude) + 0.5).to_bits() as u16
    };
    sign | half
}

/// Converts IEEE half precision to f32; a signaling NaN becomes quiet.
pub(crate) fn f16_to_f32(codes: &[u16], out: &mut [f32]) {
    for (value, &half) in out.iter_mut().zip(codes) {
        *value = f32_of(half);
    }
}

#[inline]
pub(crate) fn f32_of(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7FFF);
    let bits = if magnitude > 0x7C00 {
        0x7FC0_0000 | magnitude << 13
    } else if magnitude == 0x7C00 {
        0x7F80_0000
    } else if magnitude >= 0x0400 {
        (magnitude << 13) + (112 << 23)
    } else {
        // Subnormal: an integer times 2^-24, both exact.
        (f32::from(half & 0x7FFF) * 5.960_464_5e-8).to_bits()
    };
    f32::from_bits(sign | bits)
}

/// Converts f32 to bfloat16, ties to even.
#[expect(clippy::cast_possible_truncation, reason = "the upper half, shifted down")]
pub(crate) fn bf16_from_f32(values: &[f32], out: &mut [u16]) {
    for (code, value) in out.iter_mut().zip(values) {
        let bits = value.to_bits();
        let rounded = bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16;
        let quiet = bits >> 16 | 0x40;
        *code = if bits & 0x7FFF_FFFF > 0x7F80_0000 { quiet } else { rounded } as u16;
    }
}

/// Converts bfloat16 to f32: the upper half of its bits.
pub(crate) fn bf16_to_f32(codes: &[u16], out: &mut [f32]) {
    for (value, &code) in out.iter_mut().zip(codes) {
        *value = f32::from_bits(u32::from(code) << 16);
    }
}
