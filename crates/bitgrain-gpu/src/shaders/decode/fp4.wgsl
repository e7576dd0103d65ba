fn element(code: u32) -> f32 {
    let exponent = (code >> 1u) & 3u;
    let mantissa = code & 1u;
    var value = 0.5 * f32(mantissa);
    if exponent != 0u {
        value = 0.25 * f32((2u + mantissa) << exponent);
    }
    return select(value, -value, (code & 8u) != 0u);
}
