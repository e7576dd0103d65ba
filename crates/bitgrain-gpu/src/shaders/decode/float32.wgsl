fn run(row: u32, start: u32) {
    let at = ((row * p.row_bytes) >> 2u) + start;
    for (var i = 0u; i < 8u; i++) {
        w[i] = bitcast<f32>(codes[at + i]);
    }
}
