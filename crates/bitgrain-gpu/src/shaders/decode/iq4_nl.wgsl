fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 18u;
    let at = start % 32u;
    var table = array<f32, 16>(
        -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0);
    let scale = half_at(base);
    let shift = (at >> 4u) * 4u;
    for (var i = 0u; i < 8u; i++) {
        w[i] = scale * table[(byte_at(base + 2u + (at & 15u) + i) >> shift) & 15u];
    }
}
