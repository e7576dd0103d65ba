// Rounds a double to the nearest float, ties to even. Results below the smallest normal float become 0.
fn narrow(low: u32, high: u32) -> f32 {
    let exponent = i32((high >> 20u) & 0x7ffu) - 896;
    var bits = ((high & 0xfffffu) << 3u) | (low >> 29u);
    let rest = low & 0x1fffffffu;
    if rest > 0x10000000u || (rest == 0x10000000u && (bits & 1u) == 1u) {
        bits += 1u;
    }
    if exponent <= 0 {
        return 0.0;
    }
    // A carry out of the mantissa increments the exponent.
    return bitcast<f32>((high & 0x80000000u) | ((u32(exponent) << 23u) + bits));
}

fn run(row: u32, start: u32) {
    let at = ((row * p.row_bytes) >> 2u) + 2u * start;
    for (var i = 0u; i < 8u; i++) {
        w[i] = narrow(codes[at + 2u * i], codes[at + 2u * i + 1u]);
    }
}
