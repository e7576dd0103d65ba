//! Group commit: concurrent writers share one fsync.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::StoreError;
use crate::segment::Segment;

/// Position in the log: segment number and byte offset.
pub(super) type Mark = (u64, u64);

/// Tracks the durable end of the log.
#[derive(Debug)]
pub(super) struct GroupCommit {
    state: Mutex<State>,
    changed: Condvar,
    /// Set permanently after a failed fsync, when the contents of the disk are unknown.
    poisoned: AtomicBool,
    /// Epoch of the writer that superseded this one; 0 if no writer did.
    superseded: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    /// Everything before this position is durable.
    durable: Mark,
    /// Whether a thread is currently running the fsync on behalf of all writers.
    leading: bool,
}

impl GroupCommit {
    pub(super) fn new(durable: Mark) -> Self {
        Self {
            state: Mutex::new(State { durable, leading: false }),
            changed: Condvar::new(),
            poisoned: AtomicBool::new(false),
            superseded: AtomicU64::new(0),
        }
    }

    pub(super) fn poison(&self) {
        self.poisoned.store(true, Relaxed);
        self.changed.notify_all();
    }

    /// Poisons the store because of `error`, which later writes repeat if another writer superseded this one.
    pub(super) fn poison_with(&self, error: &StoreError) {
        if let StoreError::Superseded { epoch } = error {
            self.superseded.store(*epoch, Relaxed);
        }
        self.poison();
    }

    /// # Errors
    /// Returns [`StoreError::Poisoned`] after a failed write, or [`StoreError::Superseded`] if another writer caused it.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match (self.poisoned.load(Relaxed), self.superseded.load(Relaxed)) {
            (false, _) => Ok(()),
            (true, 0) => Err(StoreError::Poisoned),
            (true, epoch) => Err(StoreError::Superseded { epoch }),
        }
    }

    /// Returns the position up to which the log is durable.
    pub(super) fn durable(&self) -> Mark {
        self.state().durable
    }

    /// Records that the log is durable up to `mark`.
    pub(super) fn advance(&self, mark: Mark) {
        let mut state = self.state();
        state.durable = state.durable.max(mark);
        self.changed.notify_all();
    }

    /// Fsyncs a segment. A failure poisons the store: a retried fsync can succeed although the bytes were dropped.
    pub(super) fn sync(&self, segment: &Segment) -> Result<(), StoreError> {
        segment.file.sync_data().map_err(|source| self.failed(segment, source))
    }

    /// Fsyncs a segment that will not change. A failure poisons the store.
    pub(super) fn seal(&self, segment: &Segment) -> Result<(), StoreError> {
        segment.file.seal().map_err(|source| self.failed(segment, source))
    }

    fn failed(&self, segment: &Segment, source: std::io::Error) -> StoreError {
        let error = StoreError::in_doubt(segment.name(), source);
        self.poison_with(&error);
        error
    }

    /// Waits until the log is durable up to `mark`. The first waiting thread becomes the leader and fsyncs everything
    /// that `written` returns at that moment; the other threads wait for it.
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use bitgrain_formats::segment::{SegmentHeader, SegmentKind};

    use super::*;
    use crate::storage::StorageFile;

    /// A file whose only working operation is a slow fsync, which can be made to fail.
    #[derive(Default)]
    struct Slow {
        syncs: AtomicUsize,
        fails: AtomicBool,
    }

    impl StorageFile for Slow {
        fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
        fn len(&self) -> io::Result<u64> {
            Ok(0)
        }
        fn set_len(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn sync_data(&self) -> io::Result<()> {
            std::thread::sleep(Duration::from_millis(20));
            self.syncs.fetch_add(1, Relaxed);
            if self.fails.load(Relaxed) { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
        }
    }

    fn segment(file: Arc<Slow>) -> Arc<Segment> {
        let (kind, store) = (SegmentKind::Log, [0; 16]);
        let header = SegmentHeader { kind, store, number: 3, previous: 0, base_sequence: 1, base_time: 0 };
        Segment::new(header, file, 64)
    }

    #[test]
    fn concurrent_commits_share_a_sync() {
        let file = Arc::new(Slow::default());
        let (segment, commit, end) = (segment(Arc::clone(&file)), GroupCommit::new((3, 64)), AtomicU64::new(64));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let mark = (3, end.fetch_add(10, Relaxed) + 10);
                    commit.wait(mark, || Some((Arc::clone(&segment), end.load(Relaxed)))).expect("synced");
                    assert!(commit.durable() >= mark);
                });
            }
        });
        let syncs = file.syncs.load(Relaxed);
        assert!((1..8).contains(&syncs), "{syncs} syncs for 16 writers");
        commit.wait((3, 100), || panic!("already durable")).expect("durable");
    }

    #[test]
    fn every_write_fails_after_a_failed_sync() {
        let file = Arc::new(Slow::default());
        file.fails.store(true, Relaxed);
        let (segment, commit) = (segment(Arc::clone(&file)), GroupCommit::new((3, 64)));
        let wait = |end| commit.wait((3, end), || Some((Arc::clone(&segment), end)));
        assert!(matches!(wait(70), Err(StoreError::Io { .. })));
        file.fails.store(false, Relaxed);
        assert!(
            matches!(wait(70), Err(StoreError::Poisoned)),
            "a retried fsync can succeed although the bytes were dropped"
        );
        assert!(wait(64).is_ok(), "earlier writes remain durable");
    }
}
