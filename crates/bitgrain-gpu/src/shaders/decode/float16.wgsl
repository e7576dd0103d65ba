fn run(row: u32, start: u32) {
    let at = row * p.row_bytes + 2u * start;
    for (var i = 0u; i < 4u; i++) {
        let pair = word_at(at + 4u * i);
        w[2u * i] = from_half(pair & 0xffffu);
        w[2u * i + 1u] = from_half(pair >> 16u);
    }
}
