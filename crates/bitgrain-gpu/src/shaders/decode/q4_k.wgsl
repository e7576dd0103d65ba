fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 144u;
    let at = start % 256u;
    let part = at >> 5u;
    let scale = scale_and_min(base, part);
    for (var i = 0u; i < 8u; i++) {
        let pair = byte_at(base + 16u + (part >> 1u) * 32u + (at & 31u) + i);
        w[i] = scale.x * f32((pair >> ((part & 1u) * 4u)) & 15u) - scale.y;
    }
}
