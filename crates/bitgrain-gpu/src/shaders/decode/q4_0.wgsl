fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 18u;
    let at = start % 32u;
    let scale = half_at(base);
    let shift = (at >> 4u) * 4u;
    for (var i = 0u; i < 8u; i++) {
        let code = (byte_at(base + 2u + (at & 15u) + i) >> shift) & 15u;
        w[i] = scale * (f32(code) - 8.0);
    }
}
