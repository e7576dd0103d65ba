fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 84u;
    let at = start % 256u;
    let scales = byte_at(base + (at >> 4u));
    let scale = half_at(base + 80u) * f32(scales & 15u);
    let low = half_at(base + 82u) * f32(scales >> 4u);
    let part = at >> 5u;
    for (var i = 0u; i < 8u; i++) {
        let four = byte_at(base + 16u + (part >> 2u) * 32u + (at & 31u) + i);
        w[i] = scale * f32((four >> ((part & 3u) * 2u)) & 3u) - low;
    }
}
