//! Threads, and how Ctrl-C reaches them.
//!
//! A pool is kept for each number of threads that was asked for, and for each process: the threads of a pool do not
//! survive a fork, so a child that used its parent's would wait forever.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, process, thread};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Raised, Result};

/// By process and number of threads.
static POOLS: Mutex<BTreeMap<(u32, usize), Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// How long a signal may wait while trees grow.
const PATIENCE: Duration = Duration::from_millis(50);

/// The pool of as many threads as `n_jobs` means: from 1 on a number, -1 all, -2 all but one, and so on. `None` is what
/// `OMP_NUM_THREADS` says, which joblib sets for its workers, or else all.
pub(super) fn pool(n_jobs: Option<i64>) -> Result<Arc<ThreadPool>> {
    let threads = threads(n_jobs)?;
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (process::id(), threads);
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let name = |at: usize| format!("bitgrain-{at}");
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
    let pool = Arc::new(built.map_err(|error| Raised::input(format!("no {threads} threads: {error}")))?);
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

fn threads(n_jobs: Option<i64>) -> Result<usize> {
    let all = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match n_jobs {
        None => Ok(from_environment().unwrap_or_else(all)),
        Some(0) => Err(Raised::input("n_jobs = 0: it must be a number of threads from 1 on, -1 for all, or None")),
        Some(n_jobs) => {
            let size = usize::try_from(n_jobs.unsigned_abs()).unwrap_or(usize::MAX);
            // More threads than a machine has cores help nobody, and a million of them end the process.
            Ok(if n_jobs > 0 { size.min(4 * all().max(16)) } else { (all() + 1).saturating_sub(size).max(1) })
        }
    }
}

fn from_environment() -> Option<usize> {
    env::var("OMP_NUM_THREADS").ok()?.parse().ok().filter(|&threads| threads > 0)
}

/// Work on a pool while Python runs on.
pub(super) fn detached<T: Send>(py: Python<'_>, n_jobs: Option<i64>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = pool(n_jobs)?;
    Ok(py.detach(|| pool.install(work)))
}

/// The same for work that can be asked to stop: `stop` is set as soon as a signal's handler raises an exception, which
/// then comes back beside the result. Handlers only run in the thread that Python calls its main one, so that waits here.
pub(super) fn interruptible<T: Send>(
    py: Python<'_>,
    n_jobs: Option<i64>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, Option<PyErr>)> {
    let pool = pool(n_jobs)?;
    if pool.current_thread_index().is_some() {
        // A callback of a training trains: this thread would wait for itself, and gets no signals anyway.
        return Ok((py.detach(work), None));
    }
    let outcome = py.detach(|| {
        let (done, receiver) = mpsc::channel();
        let mut signal = None;
        let result = pool.in_place_scope(|scope| {
            scope.spawn(move |_| drop(done.send(work())));
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(result) => break Some(result),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            signal = Some(error);
                        }
                    }
                }
            }
        });
        (result, signal)
    });
    match outcome {
        (Some(result), signal) => Ok((result, signal)),
        // Work that panicked has already done so again at the end of the scope.
        (None, _) => Err(Raised::input("the work ended without a result")),
    }
}
