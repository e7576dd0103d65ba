//! Source of the current time, in milliseconds since 1970; tests and simulations can replace it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns milliseconds since 1970. May go backwards: records are ordered by sequence number, never by time.
    fn now(&self) -> u64;

    /// Returns whether the times are simulated. [`TensorStore::tick`](crate::TensorStore::tick) then accepts any time;
    /// with a real clock, only times within a day of it.
    fn is_simulated(&self) -> bool {
        true
    }
}

/// The system clock.
///
/// `wasm32-unknown-unknown` has no clock: `now` returns 0 there, and the caller should supply a clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    fn now(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        // Saturation is unreachable: it would take the year 584,000,000.
        since.as_secs().saturating_mul(1000).saturating_add(u64::from(since.subsec_millis()))
    }

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn now(&self) -> u64 {
        0
    }

    fn is_simulated(&self) -> bool {
        false
    }
}

/// A clock that stands still until it is set, for tests and simulations.
///
/// ```
/// use std::sync::Arc;
/// use bitgrain_store::{SimulatedClock, StoreConfig, TensorStore};
/// # let folder = tempfile::tempdir()?;
/// let (start, hour) = (1_700_000_000_000, 3_600_000);
/// let clock = Arc::new(SimulatedClock::new(start));
/// let store = TensorStore::open(folder.path(), StoreConfig { clock: clock.clone(), ..StoreConfig::default() })?;
/// store.put("x", &[2], &[1.0, 2.0])?;
/// clock.set(start + 3 * hour);
/// store.tick(start + 3 * hour)?;
/// assert_eq!((store.meta("x")?.created, store.now()), (start, start + 3 * hour));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct SimulatedClock(AtomicU64);

impl SimulatedClock {
    /// Creates a clock that shows `now_ms`, in milliseconds since 1970.
    #[must_use]
    pub const fn new(now_ms: u64) -> Self {
        Self(AtomicU64::new(now_ms))
    }

    /// Sets the clock to `now_ms`, forward or backward.
    pub fn set(&self, now_ms: u64) {
        self.0.store(now_ms, Relaxed);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
