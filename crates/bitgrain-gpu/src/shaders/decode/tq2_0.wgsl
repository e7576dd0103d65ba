fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 66u;
    let at = start % 256u;
    let scale = half_at(base + 64u);
    let part = at >> 5u;
    for (var i = 0u; i < 8u; i++) {
        let four = byte_at(base + (part >> 2u) * 32u + (at & 31u) + i);
        w[i] = scale * (f32((four >> ((part & 3u) * 2u)) & 3u) - 1.0);
    }
}
