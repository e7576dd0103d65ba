fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 22u;
    let at = start % 32u;
    let scale = half_at(base);
    let fifths = word_at(base + 2u);
    let shift = (at >> 4u) * 4u;
    for (var i = 0u; i < 8u; i++) {
        let nibble = (byte_at(base + 6u + (at & 15u) + i) >> shift) & 15u;
        w[i] = scale * (f32(nibble | (((fifths >> (at + i)) & 1u) << 4u)) - 16.0);
    }
}
