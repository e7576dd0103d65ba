//! Handles of open stores and snapshots, shared by threads and closed once.

use std::sync::{PoisonError, RwLock};

use bitgrain::store::{Snapshot, StoreError, TensorStore};
use pyo3::prelude::*;

use crate::error::{Raised, Result};
use crate::process;

/// A store or a snapshot, until it is closed.
pub(super) struct Handle<T> {
    /// Name in error messages.
    what: &'static str,
    /// Process that opened the store, if it is open for writing: writes of a forked process would corrupt it.
    process: Option<u32>,
    open: RwLock<Option<T>>,
}

/// Failure of an operation on a handle.
#[derive(Debug)]
pub(super) enum Failure {
    Store(StoreError),
    /// The store, snapshot or batch was closed.
    Closed(&'static str),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for Raised {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(error) => error.into(),
            Failure::Closed(what) => Self::input(format_args!("the {what} is closed")),
        }
    }
}

impl Handle<TensorStore> {
    pub(super) fn store(store: TensorStore, writable: bool) -> Self {
        let process = writable.then(std::process::id);
        Self { what: "store", process, open: RwLock::new(Some(store)) }
    }

    /// Closes the store and releases its lock, after waiting for other threads that use it. Does nothing if it is
    /// closed.
    pub(super) fn close(&self, py: Python<'_>) -> Result<()> {
        if self.is_foreign() {
            return Ok(()); // owned by the parent process, see `drop`
        }
        py.detach(|| {
            // The guard is held until the store is closed, so that the lock is free when any concurrent `close`
            // returns.
            let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
            open.take().map_or(Ok(()), TensorStore::close)
        })
        .map_err(Raised::from)
    }
}

impl Handle<Snapshot> {
    pub(super) fn snapshot(snapshot: Snapshot) -> Self {
        Self { what: "snapshot", process: None, open: RwLock::new(Some(snapshot)) }
    }

    /// Releases the files.
    pub(super) fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl<T: Send + Sync> Handle<T> {
    /// Runs `work` without the GIL.
    pub(super) fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&T) -> std::result::Result<R, Failure> + Send,
    ) -> Result<R> {
        if self.is_foreign() {
            return Err(Raised::input(
                "the store was opened for writing before this process was forked; close it before the fork, or open it \
                 again here with mode=\"r\"",
            ));
        }
        let done = py.detach(|| {
            let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
            match &*open {
                Some(open) => process::run(|| work(open)),
                None => Err(Failure::Closed(self.what)),
            }
        });
        Ok(done?)
    }

    /// Returns whether the handle is closed.
    pub(super) fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.open.read().unwrap_or_else(PoisonError::into_inner).is_none())
    }
}

impl<T> Handle<T> {
    /// Returns whether this process was forked from the one that opened the handle.
    fn is_foreign(&self) -> bool {
        self.process.is_some_and(|process| process != std::process::id())
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        if self.is_foreign() {
            // Dropping the store would seal the log that the parent still writes to.
            std::mem::forget(self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}
