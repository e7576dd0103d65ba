//! Numbers that look random and depend on a seed and on nothing else.

pub(crate) use bitgrain_codec::random::mix as mixed;

/// From 0 to just below 1.
#[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
pub(crate) fn share(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
