fn element(code: u32) -> f32 {
    let exponent = (code >> 3u) & 15u;
    let mantissa = code & 7u;
    var value = f32(mantissa) * 0.001953125;
    if exponent != 0u {
        value = f32(8u + mantissa) * bitcast<f32>((exponent + 117u) << 23u);
    }
    return select(value, -value, (code & 128u) != 0u);
}
