// Eight codes of four bits each, converted by `element`.
fn run(row: u32, start: u32) {
    let word = word_at(row * p.row_bytes + (start >> 1u));
    let scale = scale_of(row, start);
    for (var i = 0u; i < 8u; i++) {
        w[i] = scaled(element((word >> (4u * i)) & 15u), scale);
    }
}
