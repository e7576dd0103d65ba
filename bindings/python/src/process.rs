//! Work in processes that were forked.
//!
//! A fork has no threads but the one that forked: the pool that its parent made would never do a thing. There, a pool of its
//! own does the work, one piece at a time, so that no worker that waits takes up another piece that waits for it.

use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that loaded this module.
static FIRST: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process, and which one that is.
static POOL: Mutex<Option<(u32, ThreadPool)>> = Mutex::new(None);

/// Notes that this is the process that loaded the module.
pub(crate) fn remember() {
    FIRST.get_or_init(std::process::id);
}

/// Does `work`, which may ask for other threads, while Python runs on.
pub(crate) fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| run(work))
}

/// Does `work`, which may ask for other threads.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let here = std::process::id();
    // A callback is on a pool already, and would wait for itself.
    if FIRST.get().is_none_or(|first| *first == here) || rayon::current_thread_index().is_some() {
        return work();
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if pool.as_ref().is_none_or(|(process, _)| *process != here) {
        // To drop a pool is to wait for its threads, and those of another process never end.
        std::mem::forget(pool.take());
        *pool = ThreadPoolBuilder::new().build().ok().map(|pool| (here, pool));
    }
    match &*pool {
        Some((_, pool)) => pool.install(work),
        None => work(),
    }
}
