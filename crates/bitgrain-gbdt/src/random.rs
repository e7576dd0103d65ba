//! Numbers that look random and depend on a seed and on nothing else.

/// A number that looks random and depends on every bit of `seed`: one step of SplitMix64.
pub(crate) fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// From 0 to just below 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
pub(crate) fn share(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
