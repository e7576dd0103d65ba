//! `Stopwatch`: elapsed time, for reports only.

use std::time::Duration;

/// Time since a start. Always zero on `wasm32-unknown-unknown`, where reading the clock panics.
pub(super) struct Stopwatch {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    start: std::time::Instant,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Self {
            #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
            start: std::time::Instant::now(),
        }
    }

    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    pub(super) fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}
