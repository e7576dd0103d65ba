fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 34u;
    let at = start % 32u;
    let scale = half_at(base);
    for (var i = 0u; i < 2u; i++) {
        let word = word_at(base + 2u + at + 4u * i);
        for (var j = 0u; j < 4u; j++) {
            w[4u * i + j] = scale * signed_bits(word, 8u * j, 8u);
        }
    }
}
