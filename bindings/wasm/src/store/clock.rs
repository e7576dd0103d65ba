//! The clock of the JavaScript engine.

use bitgrain::store::Clock;

/// `Date.now()`; `wasm32-unknown-unknown` does not have a clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct DateClock;

impl Clock for DateClock {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds since 1970")]
    fn now(&self) -> u64 {
        js_sys::Date::now() as u64
    }

    fn is_simulated(&self) -> bool {
        false
    }
}
