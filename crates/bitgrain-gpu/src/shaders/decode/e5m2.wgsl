fn element(code: u32) -> f32 {
    let exponent = (code >> 2u) & 31u;
    let mantissa = code & 3u;
    var value = f32(mantissa) * 0.0000152587890625;
    if exponent != 0u {
        value = f32(4u + mantissa) * bitcast<f32>((exponent + 110u) << 23u);
    }
    return select(value, -value, (code & 128u) != 0u);
}
