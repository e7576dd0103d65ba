fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 210u;
    let at = start % 256u;
    let scale = half_at(base + 208u) * signed_bits(byte_at(base + 192u + (at >> 4u)), 0u, 8u);
    let halves = at >> 7u;
    let quarter = (at >> 5u) & 3u;
    for (var i = 0u; i < 8u; i++) {
        let m = (at & 31u) + i;
        let low = (byte_at(base + 64u * halves + (quarter & 1u) * 32u + m) >> ((quarter >> 1u) * 4u)) & 15u;
        let high = (byte_at(base + 128u + 32u * halves + m) >> (2u * quarter)) & 3u;
        w[i] = scale * (f32(low | (high << 4u)) - 32.0);
    }
}
