fn run(row: u32, start: u32) {
    let at = ((row * p.row_bytes) >> 2u) + start;
    let scale = scale_of(row, start);
    let zero = zero_point(row, start, 32u);
    for (var i = 0u; i < 8u; i++) {
        w[i] = scaled(difference(codes[at + i], zero), scale);
    }
}
