fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 110u;
    let at = start % 256u;
    let index = at >> 4u;
    let four = (byte_at(base + 96u + (index & 7u)) >> ((index >> 3u) * 4u)) & 15u;
    let two = (byte_at(base + 104u + (index & 3u)) >> ((index >> 2u) * 2u)) & 3u;
    let scale = half_at(base + 108u) * (f32(four | (two << 4u)) - 32.0);
    let part = at >> 5u;
    for (var i = 0u; i < 8u; i++) {
        let m = (at & 31u) + i;
        let pair = (byte_at(base + 32u + (part >> 2u) * 32u + m) >> ((part & 3u) * 2u)) & 3u;
        let third = (byte_at(base + m) >> part) & 1u;
        w[i] = scale * (f32(pair | (third << 2u)) - 4.0);
    }
}
