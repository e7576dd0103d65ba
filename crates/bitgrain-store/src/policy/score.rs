//! Use score of a tensor.

use super::config::millis;
use super::{PolicyConfig, Usage};

/// Maximum score.
pub const MAX_SCORE: f32 = 1024.0;

/// Returns the use score of a tensor at `now`, from 0 to [`MAX_SCORE`]: the weighted sum of the moving average of
/// periods with an access, the recency of the last access, and the share of the last 64 periods with an access.
///
/// ```
/// use bitgrain_store::policy::{PolicyConfig, Usage, score};
/// let config = PolicyConfig::default();
/// let mut usage = Usage::default();
/// usage.touch(0, &config);
/// assert_eq!(score(&usage, 0, &config), 512.0 / 16.0 + 256.0 + 256.0 / 64.0);
/// let (hour, day) = (3_600_000, 86_400_000);
/// assert!(score(&usage, 2 * hour, &config) < 160.0); // recency is half
/// assert!(score(&usage, day, &config) < 1.0);
/// ```
#[must_use]
pub fn score(usage: &Usage, now: u64, config: &PolicyConfig) -> f32 {
    if usage.accesses == 0 {
        return 0.0;
    }
    let (window, ema) = usage.seen_at(now, config);
    let recency = halved(usage.age(now), millis(config.recency_half_life).max(1));
    let periods = window.count_ones() as f32 / 64.0;
    let sum = config.weight_ema * ema + config.weight_recency * recency + config.weight_window * periods;
    sum.clamp(0.0, MAX_SCORE)
}

/// Returns 1 halved after every `half_life`, with linear interpolation: within 7 % of the exponential, and
/// bit-identical on every machine, unlike `exp2`.
pub(super) fn halved(age: u64, half_life: u64) -> f32 {
    let Some(exponent) = u32::try_from(age / half_life).ok().and_then(|n| 127_u32.checked_sub(n)) else { return 0.0 };
    let start = f32::from_bits(exponent << 23); // 2^-n; 0 at n = 127
    let share = (age % half_life) as f32 / half_life as f32;
    start * (1.0 - 0.5 * share)
}
