//! What is remembered of a tensor's accesses. It fades with time, computed when looked at: an idle tensor needs no update.

use super::PolicyConfig;

/// Accesses of one tensor. Between accesses nothing changes; [`score`](super::score()) works out what time has done.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Reads and writes so far.
    pub accesses: u64,
    /// Time of the last one. Never decreases.
    pub last: u64,
    /// Periods with an access, the lowest bit being the period of `last`, the next the one before it.
    pub window: u64,
    /// Average of periods with an access (1) and without (0), up to and with the period of `last`.
    pub ema: f32,
}

impl Usage {
    /// What is remembered after one access.
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
    /// usage.touch(0, &config); // the clock went back: as if at the last access
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

    /// Window and average after an access at `now`, a time of another period than `last`.
    pub(super) fn in_new_period(&self, now: u64, config: &PolicyConfig) -> (u64, f32) {
        let periods = self.periods_since(now, config);
        let window = if self.accesses == 0 { 0 } else { shifted(self.window, periods) };
        let faded = self.sound_ema() * power(1.0 - config.ema_weight, periods);
        (window | 1, (faded + config.ema_weight).min(1.0))
    }

    /// Window and average, seen at `now`. A period that is not over yet does not count as one without an access.
    pub(super) fn seen_at(&self, now: u64, config: &PolicyConfig) -> (u64, f32) {
        let over = self.periods_since(now, config).saturating_sub(1);
        (shifted(self.window, over), self.sound_ema() * power(1.0 - config.ema_weight, over))
    }

    /// Milliseconds since the last access.
    pub(super) fn age(&self, now: u64) -> u64 {
        now.saturating_sub(self.last)
    }

    fn periods_since(&self, now: u64, config: &PolicyConfig) -> u64 {
        config.period_of(now.max(self.last)) - config.period_of(self.last)
    }

    /// The average, whatever was read from a file.
    fn sound_ema(&self) -> f32 {
        if self.ema.is_nan() { 0.0 } else { self.ema.clamp(0.0, 1.0) }
    }
}

fn shifted(window: u64, periods: u64) -> u64 {
    u32::try_from(periods).ok().and_then(|n| window.checked_shl(n)).unwrap_or(0)
}

/// `base` to the `exponent` by squaring: the same bits on every machine, which `powf` does not promise.
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
