fn run(row: u32, start: u32) {
    let at = ((row * p.row_bytes) >> 2u) + start;
    let scale = scale_of(row, start);
    for (var i = 0u; i < 8u; i++) {
        w[i] = scaled(f32(bitcast<i32>(codes[at + i])), scale);
    }
}
