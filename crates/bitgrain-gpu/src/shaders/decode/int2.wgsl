// Eight codes of two bits each, also for ternary weights.
fn run(row: u32, start: u32) {
    let word = word_at(row * p.row_bytes + (start >> 2u));
    let scale = scale_of(row, start);
    for (var i = 0u; i < 8u; i++) {
        w[i] = scaled(signed_bits(word, 2u * i, 2u), scale);
    }
}
