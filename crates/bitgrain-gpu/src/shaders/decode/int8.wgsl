fn element(code: u32) -> f32 {
    return signed_bits(code, 0u, 8u);
}
