//! Simulated clock.

use std::sync::Arc;

use bitgrain::store::{Clock, SimulatedClock};
use pyo3::prelude::*;

/// Native part of a `SimulatedClock`.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreClock {
    clock: Arc<SimulatedClock>,
}

impl StoreClock {
    /// Returns the clock, shared with stores.
    pub(super) fn shared(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }
}

#[pymethods]
impl StoreClock {
    #[new]
    fn new(now_ms: u64) -> Self {
        Self { clock: Arc::new(SimulatedClock::new(now_ms)) }
    }

    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn set(&self, now_ms: u64) {
        self.clock.set(now_ms);
    }
}
