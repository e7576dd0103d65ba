//! Dates that lie in the future: a clock was ahead when they were written and is right again, or it is behind now.
//!
//! Order comes from sequence numbers, so such a date is only wrong about use: the tensor would look as if it had just been used
//! until the time has caught up. A tick therefore writes down the use of such tensors with its own time.

use super::{Core, TensorStore};
use crate::StoreError;
use crate::policy::{CapState, Usage};

/// Milliseconds by which the time of a tick may differ from the clock, and dates may lie in the future: a day, more than
/// time zones and the drift of clocks account for.
pub(crate) const SLACK: u64 = 24 * 3_600_000;

impl TensorStore {
    /// The time of the store's clock, in milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.core.now()
    }
}

impl Core {
    /// Refuses times that the clock does not agree with, such as seconds that were taken for milliseconds.
    pub(super) fn check_time(&self, now: u64) -> Result<(), StoreError> {
        self.check_not_past(now)?;
        let clock = self.now();
        if !self.config.clock.is_simulated() && now > clock.saturating_add(SLACK) {
            return Err(StoreError::TimeOutOfRange { now, clock });
        }
        Ok(())
    }

    /// Refuses times that are over for long; later ones are fine for a plan.
    pub(super) fn check_not_past(&self, now: u64) -> Result<(), StoreError> {
        let clock = self.now();
        if !self.config.clock.is_simulated() && now.saturating_add(SLACK) < clock {
            return Err(StoreError::TimeOutOfRange { now, clock });
        }
        Ok(())
    }

    /// Dates uses back to `now` that lie further in the future than the slack. They are written down with the next list of
    /// uses, so that this is done once.
    pub(super) fn redate(&self, now: u64) {
        let mut ahead = Vec::new();
        self.index.for_each(|entry| {
            if is_ahead(entry.usage.load().last, now) {
                ahead.push(entry.key.clone());
            }
        });
        for key in ahead {
            self.index.touch(&key, |entry| entry.usage.store(limit_date(entry.usage.load(), now)), |_| ());
        }
    }
}

/// True if a date is too far ahead of `now` to be a matter of clocks that differ a little.
pub(super) fn is_ahead(date: u64, now: u64) -> bool {
    date > now.saturating_add(SLACK)
}

/// A use with a date that is not in the future.
pub(super) fn limit_date(usage: Usage, now: u64) -> Usage {
    if is_ahead(usage.last, now) { Usage { last: now, ..usage } } else { usage }
}

/// When data came to its tier. A date in the future says nothing: the data counts as old, since nothing better will ever be
/// known of this record.
pub(super) fn changed_at(date: u64, now: u64) -> u64 {
    if is_ahead(date, now) { 0 } else { date }
}

/// The state of the cap without a date in the future.
pub(super) fn cap_at(cap: CapState, now: u64) -> CapState {
    CapState { last_downgrade: cap.last_downgrade.filter(|date| !is_ahead(*date, now)) }
}
