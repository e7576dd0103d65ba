fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 176u;
    let at = start % 256u;
    let part = at >> 5u;
    let scale = scale_and_min(base, part);
    for (var i = 0u; i < 8u; i++) {
        let m = (at & 31u) + i;
        let nibble = (byte_at(base + 48u + (part >> 1u) * 32u + m) >> ((part & 1u) * 4u)) & 15u;
        let fifth = (byte_at(base + 16u + m) >> part) & 1u;
        w[i] = scale.x * f32(nibble | (fifth << 4u)) - scale.y;
    }
}
