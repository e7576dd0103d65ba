// Eight codes of one byte each, converted by `element`.
fn run(row: u32, start: u32) {
    let at = row * p.row_bytes + start;
    let scale = scale_of(row, start);
    for (var i = 0u; i < 2u; i++) {
        let word = word_at(at + 4u * i);
        for (var j = 0u; j < 4u; j++) {
            w[4u * i + j] = scaled(element((word >> (8u * j)) & 255u), scale);
        }
    }
}
