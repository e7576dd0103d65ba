fn run(row: u32, start: u32) {
    let at = ((row * p.row_bytes) >> 2u) + 2u * start;
    let scale = scale_of(row, start);
    for (var i = 0u; i < 8u; i++) {
        let low = codes[at + 2u * i];
        let high = codes[at + 2u * i + 1u];
        // The magnitude first: near 0, the two halves of a negative code would cancel.
        let negative = (high >> 31u) != 0u;
        let magnitude = select(vec2<u32>(low, high), vec2<u32>(~low + 1u, ~high + u32(low == 0u)), negative);
        let code = f32(magnitude.y) * 4294967296.0 + f32(magnitude.x);
        w[i] = scaled(select(code, -code, negative), scale);
    }
}
