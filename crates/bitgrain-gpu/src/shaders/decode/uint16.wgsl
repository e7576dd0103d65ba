fn run(row: u32, start: u32) {
    let at = row * p.row_bytes + 2u * start;
    let scale = scale_of(row, start);
    let zero = zero_point(row, start, 16u);
    for (var i = 0u; i < 4u; i++) {
        let pair = word_at(at + 4u * i);
        w[2u * i] = scaled(difference(pair & 0xffffu, zero), scale);
        w[2u * i + 1u] = scaled(difference(pair >> 16u, zero), scale);
    }
}
