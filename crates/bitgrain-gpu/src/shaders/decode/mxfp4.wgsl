fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 17u;
    let at = start % 32u;
    var table = array<f32, 8>(0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0);
    // The scale is 2^(exponent - 128), subnormal for 0 and 1.
    let exponent = byte_at(base);
    var bits = (max(exponent, 1u) - 1u) << 23u;
    if exponent < 2u {
        bits = 0x200000u << exponent;
    }
    let scale = factors(bits);
    let shift = (at >> 4u) * 4u;
    for (var i = 0u; i < 8u; i++) {
        let code = (byte_at(base + 1u + (at & 15u) + i) >> shift) & 15u;
        let value = table[code & 7u] * scale.x * scale.y;
        w[i] = select(value, -value, code > 7u);
    }
}
