fn run(row: u32, start: u32) {
    let at = ((row * p.row_bytes) >> 2u) + 2u * start;
    let scale = scale_of(row, start);
    var index = 0u;
    if p.whole == 0u {
        index = ((row * p.zero_bytes) >> 2u) + 2u * (start / p.group);
    }
    let zero = vec2<u32>(zeros[index], zeros[index + 1u]);
    for (var i = 0u; i < 8u; i++) {
        let code = vec2<u32>(codes[at + 2u * i], codes[at + 2u * i + 1u]);
        // The difference of 64-bit numbers by halves, as in schoolbook subtraction.
        let negative = code.y < zero.y || (code.y == zero.y && code.x < zero.x);
        let large = select(code, zero, negative);
        let small = select(zero, code, negative);
        let low = large.x - small.x;
        let high = large.y - small.y - u32(large.x < small.x);
        let steps = f32(high) * 4294967296.0 + f32(low);
        w[i] = scaled(select(steps, -steps, negative), scale);
    }
}
