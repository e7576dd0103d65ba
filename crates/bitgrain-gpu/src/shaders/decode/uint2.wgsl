fn run(row: u32, start: u32) {
    let at = row * p.row_bytes + ((start * 2u) >> 3u);
    let scale = scale_of(row, start);
    let zero = zero_point(row, start, 2u);
    for (var i = 0u; i < 8u; i++) {
        let bit = i * 2u;
        let code = (byte_at(at + (bit >> 3u)) >> (bit & 7u)) & 3u;
        w[i] = scaled(difference(code, zero), scale);
    }
}
