//! Deterministic pseudo-random numbers: a pure function of the seed.

pub(crate) use bitgrain_codec::random::mix as mixed;

/// Maps 64 random bits to a number in 0..1.
#[expect(clippy::cast_precision_loss, reason = "only 53 bits are kept")]
pub(crate) fn share(random: u64) -> f64 {
    (random >> 11) as f64 / (1_u64 << 53) as f64
}
