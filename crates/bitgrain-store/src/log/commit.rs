//! Group commit: writers that wait for the disk at the same time share one wait.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::StoreError;
use crate::config::Mutant;
use crate::segment::Segment;

/// A place in the log: number of a segment and bytes of it.
pub(super) type Mark = (u64, u64);

/// Knows up to where the log is durable.
#[derive(Debug)]
pub(super) struct Commit {
    state: Mutex<State>,
    changed: Condvar,
    /// Set for good when nobody knows what the disk holds.
    poisoned: AtomicBool,
    mutant: Option<Mutant>,
}

#[derive(Debug, Default)]
struct State {
    /// Everything before this is durable.
    durable: Mark,
    /// True while somebody waits for the disk, on behalf of all.
    leading: bool,
}

impl Commit {
    pub(super) fn new(durable: Mark, mutant: Option<Mutant>) -> Self {
        Self {
            state: Mutex::new(State { durable, leading: false }),
            changed: Condvar::new(),
            poisoned: AtomicBool::new(false),
            mutant,
        }
    }

    pub(super) fn poison(&self) {
        self.poisoned.store(true, Relaxed);
        self.changed.notify_all();
    }

    /// # Errors
    /// [`StoreError::Poisoned`] if the store is.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.poisoned.load(Relaxed) { Err(StoreError::Poisoned) } else { Ok(()) }
    }

    /// Up to where the log is known to be durable.
    pub(super) fn durable(&self) -> Mark {
        self.state().durable
    }

    /// Notes that the log is durable up to `mark`.
    pub(super) fn advance(&self, mark: Mark) {
        let mut state = self.state();
        state.durable = state.durable.max(mark);
        self.changed.notify_all();
    }

    /// Makes a segment durable. A failure poisons the store: a second try might succeed without the bytes being there.
    pub(super) fn sync(&self, segment: &Segment) -> Result<(), StoreError> {
        if self.mutant == Some(Mutant::SkipFsync) {
            return Ok(());
        }
        segment.file.sync_data().map_err(|source| {
            self.poison();
            StoreError::Io { name: segment.name(), source }
        })
    }

    /// Waits until the log is durable up to `mark`. `written` says what there is to sync: whoever comes first does it for
    /// all that was written until then, and the others wait for it.
    pub(super) fn wait(&self, mark: Mark, written: impl Fn() -> Option<(Arc<Segment>, u64)>) -> Result<(), StoreError> {
        let mut state = self.state();
        loop {
            if state.durable >= mark {
                return Ok(());
            }
            self.check()?;
            if state.leading {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.leading = true;
            drop(state);
            let synced = match written() {
                Some((segment, end)) => self.sync(&segment).map(|()| (segment.number(), end)),
                None => Ok(mark), // sealed, and so durable, in the meantime
            };
            state = self.state();
            state.leading = false;
            self.changed.notify_all();
            state.durable = state.durable.max(synced?);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
