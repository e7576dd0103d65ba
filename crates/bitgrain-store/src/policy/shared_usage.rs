//! Usage of a tensor in atomics: readers count accesses without a lock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::{PolicyConfig, Usage};

/// [`Usage`] shared between threads. An access within the period of the last one costs two relaxed atomic operations.
///
/// Accesses are counted exactly. Window and average are updated by the one thread whose access starts a new period; a
/// concurrent reader may see them one period late, which does not change a tier.
#[derive(Debug, Default)]
pub struct SharedUsage {
    accesses: AtomicU64,
    last: AtomicU64,
    window: AtomicU64,
    ema: AtomicU32,
}

impl SharedUsage {
    /// Creates shared usage from known usage.
    #[must_use]
    pub fn new(usage: Usage) -> Self {
        Self {
            accesses: AtomicU64::new(usage.accesses),
            last: AtomicU64::new(usage.last),
            window: AtomicU64::new(usage.window),
            ema: AtomicU32::new(usage.ema.to_bits()),
        }
    }

    /// Counts an access at `now`, as [`Usage::touch`] does.
    pub fn touch(&self, now: u64, config: &PolicyConfig) {
        let before = self.accesses.fetch_add(1, Relaxed);
        let last = self.last.load(Relaxed);
        let now = now.max(last);
        if before > 0 && config.period_of(now) == config.period_of(last) {
            if now > last {
                self.last.fetch_max(now, Relaxed);
            }
            return;
        }
        let seen = Usage { accesses: before, last, window: self.window.load(Relaxed), ema: self.ema() };
        // The thread that moves `last` into the new period updates the sums; the others fall within that period.
        let mine = self.last.compare_exchange(last, now, Relaxed, Relaxed).is_ok();
        self.last.fetch_max(now, Relaxed);
        if mine || before == 0 {
            let (window, ema) = seen.in_new_period(now, config);
            // If this thread was delayed until yet another period began, the newer sums stay.
            let _ = self.window.compare_exchange(seen.window, window, Relaxed, Relaxed);
            let _ = self.ema.compare_exchange(seen.ema.to_bits(), ema.to_bits(), Relaxed, Relaxed);
        }
    }

    /// Returns the current usage.
    #[must_use]
    pub fn load(&self) -> Usage {
        Usage {
            accesses: self.accesses.load(Relaxed),
            last: self.last.load(Relaxed),
            window: self.window.load(Relaxed),
            ema: self.ema(),
        }
    }

    /// Replaces the usage, for example with that from a file.
    pub fn store(&self, usage: Usage) {
        self.accesses.store(usage.accesses, Relaxed);
        self.last.store(usage.last, Relaxed);
        self.window.store(usage.window, Relaxed);
        self.ema.store(usage.ema.to_bits(), Relaxed);
    }

    fn ema(&self) -> f32 {
        f32::from_bits(self.ema.load(Relaxed))
    }
}
