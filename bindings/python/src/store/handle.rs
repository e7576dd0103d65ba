//! Something open that Python objects share: used by many threads at once, closed once.

use std::sync::{PoisonError, RwLock};

use bitgrain::store::{Snapshot, StoreError, TensorStore};
use pyo3::prelude::*;

use crate::error::{Raised, Result};
use crate::process;

/// A store or a snapshot, until it is closed.
pub(super) struct Handle<T> {
    /// What users call it.
    what: &'static str,
    /// The process that opened it, if no other may use it: two that write would write over each other.
    process: Option<u32>,
    open: RwLock<Option<T>>,
}

/// Why something open was not used with success.
#[derive(Debug)]
pub(super) enum Failure {
    Store(StoreError),
    /// It was closed before, or handed in already.
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

    /// Closes the store and gives up its lock. Waits for whoever uses it; does nothing if it is closed.
    pub(super) fn close(&self, py: Python<'_>) -> Result<()> {
        if self.is_foreign() {
            return Ok(()); // it is not ours to close, see `drop`
        }
        py.detach(|| {
            // Held until it is closed: when anybody's close returns, the lock is free.
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

    /// Lets go of the files.
    pub(super) fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.open.write().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl<T: Send + Sync> Handle<T> {
    /// Uses what is open, without the interpreter's lock.
    pub(super) fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&T) -> std::result::Result<R, Failure> + Send,
    ) -> Result<R> {
        if self.is_foreign() {
            return Err(Raised::input(
                "the store was opened for writing before this process was forked: close it before, or open it anew \
                 here with mode=\"r\"",
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

    /// True once it is closed.
    pub(super) fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| self.open.read().unwrap_or_else(PoisonError::into_inner).is_none())
    }
}

impl<T> Handle<T> {
    /// True in a process that was forked from the one that may use it.
    fn is_foreign(&self) -> bool {
        self.process.is_some_and(|process| process != std::process::id())
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        if self.is_foreign() {
            // To drop the store would seal the log that the parent goes on writing.
            std::mem::forget(self.open.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}
