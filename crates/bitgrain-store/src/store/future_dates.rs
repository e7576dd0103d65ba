//! Timestamps in the future: the clock was ahead when they were written, or is behind now.
//!
//! Records are ordered by sequence number, so such a timestamp only distorts usage: the tensor would look recently used
//! until the clock catches up. A tick therefore rewrites the usage of such tensors with its own time.

use super::lookup::Found;
use super::{Core, TensorStore};
use crate::StoreError;
use crate::policy::{CapState, Usage};

/// Tolerance in milliseconds for differences between tick times, stored timestamps and the clock: one day, more than
/// time zones and clock drift account for.
pub(crate) const SLACK: u64 = 24 * 3_600_000;

impl TensorStore {
    /// Returns the time of the store's clock, in milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.core.now()
    }
}

impl Core {
    /// Rejects times too far from the clock, such as seconds given as milliseconds.
    pub(super) fn check_time(&self, now: u64) -> Result<(), StoreError> {
        self.check_not_past(now)?;
        let clock = self.now();
        if !self.config.clock.is_simulated() && now > clock.saturating_add(SLACK) {
            return Err(StoreError::TimeOutOfRange { now, clock });
        }
        Ok(())
    }

    /// Rejects times too far in the past; a plan may look at any later time.
    pub(super) fn check_not_past(&self, now: u64) -> Result<(), StoreError> {
        let clock = self.now();
        if !self.config.clock.is_simulated() && now.saturating_add(SLACK) < clock {
            return Err(StoreError::TimeOutOfRange { now, clock });
        }
        Ok(())
    }

    /// Resets usage timestamps that are further in the future than the tolerance to `now`. The next usage record
    /// contains them, so this happens once.
    pub(super) fn reset_future_dates(&self, now: u64) -> Result<(), StoreError> {
        let (mut ahead, mut temporal) = (Vec::new(), Vec::new());
        self.index.for_each(|entry| {
            if is_ahead(entry.usage.load().last, now) {
                ahead.push(entry.key.clone());
            }
            if entry.traits.temporal {
                temporal.push((entry.key.clone(), Found::of(entry)));
            }
        });
        ahead.extend(self.index.frame_uses.update(|usage| limit_date(usage, now)));
        // Frames that were never read age from the time of their records, which cannot be changed: they get a read instead.
        for (key, found) in temporal {
            let runs = self.frame_runs(&key, &found)?.into_iter().filter(|run| is_ahead(run.changed_at, now));
            for run in runs.filter(|run| self.index.frame_uses.usage(&key, &run.frames).is_none()) {
                self.index.frame_uses.touch(&key, &run.frames, now, &self.config.policy);
                ahead.push(key.clone());
            }
        }
        for key in ahead {
            self.index.touch(&key, |entry| entry.usage.store(limit_date(entry.usage.load(), now)), |_| ());
        }
        Ok(())
    }
}

/// Returns whether a timestamp is too far ahead of `now` to be clock drift.
pub(super) fn is_ahead(date: u64, now: u64) -> bool {
    date > now.saturating_add(SLACK)
}

/// Limits the timestamp of a usage to `now`.
pub(super) fn limit_date(usage: Usage, now: u64) -> Usage {
    if is_ahead(usage.last, now) { Usage { last: now, ..usage } } else { usage }
}

/// Returns the time at which data reached its tier. For a timestamp in the future, the data counts as old, because the
/// true time of this record cannot be recovered.
pub(super) fn changed_at(date: u64, now: u64) -> u64 {
    if is_ahead(date, now) { 0 } else { date }
}

/// Returns the state of the cap without timestamps in the future.
pub(super) fn cap_at(cap: CapState, now: u64) -> CapState {
    CapState { last_downgrade: cap.last_downgrade.filter(|date| !is_ahead(*date, now)) }
}
