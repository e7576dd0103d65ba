fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 256u) * 54u;
    let at = start % 256u;
    var powers = array<u32, 5>(1u, 3u, 9u, 27u, 81u);
    let scale = half_at(base + 52u);
    for (var i = 0u; i < 8u; i++) {
        // Three runs of bytes: 32 with five digits, 16 with five digits, four with four.
        var index = at + i;
        var first = 0u;
        var len = 32u;
        if index >= 240u {
            index -= 240u;
            first = 48u;
            len = 4u;
        } else if index >= 160u {
            index -= 160u;
            first = 32u;
            len = 16u;
        }
        let byte = (byte_at(base + first + index % len) * powers[index / len]) & 255u;
        w[i] = scale * (f32((byte * 3u) >> 8u) - 1.0);
    }
}
