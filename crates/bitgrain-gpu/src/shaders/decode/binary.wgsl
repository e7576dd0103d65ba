fn run(row: u32, start: u32) {
    let word = byte_at(row * p.row_bytes + (start >> 3u));
    let scale = scale_of(row, start);
    for (var i = 0u; i < 8u; i++) {
        w[i] = scaled(select(-1.0, 1.0, ((word >> i) & 1u) != 0u), scale);
    }
}
