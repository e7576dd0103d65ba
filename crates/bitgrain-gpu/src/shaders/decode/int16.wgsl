fn run(row: u32, start: u32) {
    let at = row * p.row_bytes + 2u * start;
    let scale = scale_of(row, start);
    for (var i = 0u; i < 4u; i++) {
        let pair = word_at(at + 4u * i);
        w[2u * i] = scaled(signed_bits(pair, 0u, 16u), scale);
        w[2u * i + 1u] = scaled(signed_bits(pair, 16u, 16u), scale);
    }
}
