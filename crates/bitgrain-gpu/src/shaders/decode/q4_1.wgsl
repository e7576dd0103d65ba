fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 20u;
    let at = start % 32u;
    let scale = half_at(base);
    let low = half_at(base + 2u);
    let shift = (at >> 4u) * 4u;
    for (var i = 0u; i < 8u; i++) {
        let code = (byte_at(base + 4u + (at & 15u) + i) >> shift) & 15u;
        w[i] = scale * f32(code) + low;
    }
}
