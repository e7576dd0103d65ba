//! Access history of a tensor. Its decay is computed on demand, so an idle tensor needs no updates.

use super::PolicyConfig;

/// Accesses of one tensor. Unchanged between accesses; [`score`](super::score()) applies the decay.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Number of reads and writes.
    pub accesses: u64,
    /// Time of the last access. Never decreases.
    pub last: u64,
    /// Periods with an access, as bits: bit 0 is the period of `last`, bit 1 the one before it.
    pub window: u64,
    /// Moving average of periods with (1) and without (0) an access, including the period of `last`.
    pub ema: f32,
}

impl Usage {
    /// Returns the usage after one access.
    pub(crate) fn first(now: u64, config: &PolicyConfig) -> Self {
        Self { accesses: 1, last: now, window: 1, ema: config.ema_weight.min(1.0) }
    }

    /// Counts an access at `now`.
    ///
    /// ```
    /// use bitgrain_store::policy::{PolicyConfig, Usage};
    /// let config = PolicyConfig::default(); // periods of ten minutes
    /// let mut usage = Usage::default();
    /// usage.touch(600_000, &config);
    /// usage.touch(700_000, &config); // the same period
    /// assert_eq!((usage.accesses, usage.last, usage.window), (2, 700_000, 0b1));
    /// usage.touch(1_900_000, &config); // two periods later
    /// assert_eq!(usage.window, 0b101);
    /// usage.touch(0, &config); // the clock went back: treated as the time of the last access
    /// assert_eq!((usage.accesses, usage.last, usage.window), (4, 1_900_000, 0b101));
    /// ```
    pub fn touch(&mut self, now: u64, config: &PolicyConfig) {
        let now = now.max(self.last);
        if self.accesses == 0 || config.period_of(now) != config.period_of(self.last) {
            (self.window, self.ema) = self.in_new_period(now, config);
        }
        self.accesses = self.accesses.saturating_add(1);
        self.last = now;
    }

    /// Returns window and average after an access at `now`, in another period than `last`.
    pub(super) fn in_new_period(&self, now: u64, config: &PolicyConfig) -> (u64, f32) {
        if self.accesses == 0 {
            // Nothing fades; the general case would raise to the power of all periods since 1970, for every new tensor.
            return (1, config.ema_weight.min(1.0));
        }
        let periods = self.periods_since(now, config);
        let window = shifted(self.window, periods);
        let faded = self.valid_ema() * power(1.0 - config.ema_weight, periods);
        (window | 1, (faded + config.ema_weight).min(1.0))
    }

    /// Returns window and average at `now`. The current period does not yet count as one without an access.
    pub(super) fn seen_at(&self, now: u64, config: &PolicyConfig) -> (u64, f32) {
        let over = self.periods_since(now, config).saturating_sub(1);
        (shifted(self.window, over), self.valid_ema() * power(1.0 - config.ema_weight, over))
    }

    /// Returns milliseconds since the last access.
    pub(super) fn age(&self, now: u64) -> u64 {
        now.saturating_sub(self.last)
    }

    fn periods_since(&self, now: u64, config: &PolicyConfig) -> u64 {
        config.period_of(now.max(self.last)) - config.period_of(self.last)
    }

    /// Returns the average, limited to 0..=1 because it may come from a damaged file.
    fn valid_ema(&self) -> f32 {
        if self.ema.is_nan() { 0.0 } else { self.ema.clamp(0.0, 1.0) }
    }
}

fn shifted(window: u64, periods: u64) -> u64 {
    u32::try_from(periods).ok().and_then(|n| window.checked_shl(n)).unwrap_or(0)
}

/// Computes `base` to the `exponent` by squaring: bit-identical on every machine, which `powf` does not guarantee.
fn power(mut base: f32, mut exponent: u64) -> f32 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_access_is_counted_as_any_other() {
        let config = PolicyConfig::default();
        for now in [0, 5, 1_700_000_000_000, u64::MAX] {
            let mut usage = Usage::default();
            usage.touch(now, &config);
            assert_eq!(usage, Usage::first(now, &config), "{now}");
        }
    }
}
