fn run(row: u32, start: u32) {
    let base = row * p.row_bytes + (start / 32u) * 20u;
    let at = start % 32u;
    let scale = factors(word_at(base));
    let word = word_at(base + 4u + (at >> 1u));
    for (var i = 0u; i < 8u; i++) {
        w[i] = scaled(signed_bits(word, 4u * i, 4u), scale);
    }
}
