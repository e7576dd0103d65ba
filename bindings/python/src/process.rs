//! Thread pools of forked processes.
//!
//! After a fork only the forking thread exists in the child, so the global pool of the parent would never run anything.
//! A forked process therefore uses its own pool, one task at a time: a worker that waits could otherwise steal a task
//! that waits for the worker's own task.

use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Id of the process that loaded this module.
static FIRST: OnceLock<u32> = OnceLock::new();
/// Pool of a forked process, with the id of the process.
static POOL: Mutex<Option<(u32, ThreadPool)>> = Mutex::new(None);

/// Records the current process as the one that loaded the module.
pub(crate) fn remember() {
    FIRST.get_or_init(std::process::id);
}

/// Runs `work`, which may use the thread pool, without the GIL.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| run(work))
}

/// Runs `work`, which may use the thread pool.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let here = std::process::id();
    // A callback already runs on the pool and would deadlock on `POOL`.
    if FIRST.get().is_none_or(|first| *first == here) || rayon::current_thread_index().is_some() {
        return work();
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if pool.as_ref().is_none_or(|(process, _)| *process != here) {
        // Dropping a pool joins its threads, which do not exist in this process; leak it instead.
        std::mem::forget(pool.take());
        *pool = ThreadPoolBuilder::new().build().ok().map(|pool| (here, pool));
    }
    match &*pool {
        Some((_, pool)) => pool.install(work),
        None => work(),
    }
}
