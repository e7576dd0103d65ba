fn run(row: u32, start: u32) {
    let at = row * p.row_bytes + ((start * 4u) >> 3u);
    let scale = scale_of(row, start);
    let zero = zero_point(row, start, 4u);
    for (var i = 0u; i < 8u; i++) {
        let bit = i * 4u;
        let code = (byte_at(at + (bit >> 3u)) >> (bit & 7u)) & 15u;
        w[i] = scaled(difference(code, zero), scale);
    }
}
