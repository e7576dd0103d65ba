// Scale and minimum of 32 weights of a block that starts with the scales of both; six bits each.
fn scale_and_min(base: u32, i: u32) -> vec2<f32> {
    let first = byte_at(base + 4u + (i & 3u));
    let second = byte_at(base + 8u + (i & 3u));
    var both = vec2<u32>(first & 63u, second & 63u);
    if i >= 4u {
        let low = byte_at(base + 8u + i);
        both = vec2<u32>((low & 15u) | ((first >> 6u) << 4u), (low >> 4u) | ((second >> 6u) << 4u));
    }
    return vec2<f32>(half_at(base) * f32(both.x), half_at(base + 2u) * f32(both.y));
}
