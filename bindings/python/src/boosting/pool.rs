//! Thread pools and the handling of Ctrl-C.
//!
//! The most recently used pools are kept, because starting threads takes longer than predicting a few rows. Pools
//! belong to one process: threads do not survive a fork, so a child that used a pool of its parent would wait forever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, mem, process, thread};

use pyo3::prelude::*;
use pyo3::types::PyInt;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Raised, Result};

/// Process id and number of threads.
type Key = (u32, usize);

/// Maximum number of idle pools of each kind: one for training and one for prediction with another number of threads.
const KEPT: usize = 2;

/// Pools that several calls use at once.
static SHARED: Mutex<Kept<Arc<ThreadPool>>> = Mutex::new(Kept(Vec::new()));

/// Idle pools for exclusive use by one call at a time.
static IDLE: Mutex<Kept<ThreadPool>> = Mutex::new(Kept(Vec::new()));

/// At most [`KEPT`] pools, in order of last use.
struct Kept<P>(Vec<(Key, P)>);

impl<P> Kept<P> {
    fn take(&mut self, key: Key) -> Option<P> {
        self.0.iter().position(|(other, _)| *other == key).map(|at| self.0.remove(at).1)
    }

    fn put(&mut self, key: Key, pool: P) {
        self.0.push((key, pool));
        while self.0.len() > KEPT {
            let ((process, _), pool) = self.0.remove(0);
            // Joining the threads of another process takes locks that they may have held at the fork, so leak the pool.
            if process != key.0 {
                mem::forget(pool);
            }
        }
    }
}

/// Interval at which signals are checked during training.
const PATIENCE: Duration = Duration::from_millis(50);

/// The `n_jobs` argument: at least 1, or -1 for all cores, -2 for all but one, and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jobs(i64);

impl<'a, 'py> FromPyObject<'a, 'py> for Jobs {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let given = || object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        object.extract().map(Self).map_err(|_| {
            let message = format!("n_jobs = {}: it must be at least 1, -1 for all cores, or None", given());
            if object.is_instance_of::<PyInt>() { Raised::input(message) } else { Raised::dtype(message) }.into()
        })
    }
}

/// An exclusive pool: callbacks that run on it may wait for other Python threads, which may in turn wait for a pool.
struct Own {
    key: Key,
    /// `Some` until dropped.
    pool: Option<ThreadPool>,
}

impl Own {
    fn new(threads: usize) -> Result<Self> {
        let key = (process::id(), threads);
        let found = IDLE.lock().unwrap_or_else(PoisonError::into_inner).take(key);
        Ok(Self { key, pool: Some(found.map_or_else(|| build(threads), Ok)?) })
    }

    fn pool(&self) -> Result<&ThreadPool> {
        self.pool.as_ref().ok_or_else(|| Raised::input("the thread pool was dropped"))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            IDLE.lock().unwrap_or_else(PoisonError::into_inner).put(self.key, pool);
        }
    }
}

fn shared(threads: usize) -> Result<Arc<ThreadPool>> {
    let mut pools = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (process::id(), threads);
    let pool = pools.take(key).map_or_else(|| build(threads).map(Arc::new), Ok)?;
    pools.put(key, Arc::clone(&pool));
    Ok(pool)
}

fn build(threads: usize) -> Result<ThreadPool> {
    let name = |at: usize| format!("bitgrain-{at}");
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build();
    built.map_err(|error| Raised::input(format!("cannot start {threads} threads: {error}")))
}

/// Returns the number of threads. `None` means `OMP_NUM_THREADS`, which joblib sets for its workers, or else all cores.
fn threads(n_jobs: Option<Jobs>) -> Result<usize> {
    let all = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    check(n_jobs)?;
    match n_jobs {
        None => Ok(from_environment().unwrap_or_else(all)),
        Some(Jobs(n_jobs)) => {
            let size = usize::try_from(n_jobs.unsigned_abs()).unwrap_or(usize::MAX);
            // More threads than cores gain nothing, and a million threads would kill the process.
            Ok(if n_jobs > 0 { size.min(4 * all().max(16)) } else { (all() + 1).saturating_sub(size).max(1) })
        }
    }
}

/// Rejects an invalid `n_jobs`. Does not count the cores, which takes longer than predicting a few rows.
pub(super) fn check(n_jobs: Option<Jobs>) -> Result<()> {
    match n_jobs {
        Some(Jobs(0)) => Err(Raised::input("n_jobs = 0: it must be at least 1, -1 for all cores, or None")),
        _ => Ok(()),
    }
}

fn from_environment() -> Option<usize> {
    env::var("OMP_NUM_THREADS").ok()?.parse().ok().filter(|&threads| threads > 0)
}

/// Runs `work` on a pool without the GIL.
pub(super) fn detached<T: Send>(py: Python<'_>, n_jobs: Option<Jobs>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let threads = threads(n_jobs)?;
    if threads == 1 {
        // A shared pool of one thread would serialize all callers that ask for one thread.
        let own = Own::new(threads)?;
        let pool = own.pool()?;
        return Ok(py.detach(|| pool.install(work)));
    }
    let pool = shared(threads)?;
    Ok(py.detach(|| pool.install(work)))
}

/// Runs `work`, which waits for other workers, on a separate pool without the GIL: some of the workers may be threads of
/// this process, and waiting in a pool that they share could take its last thread.
pub(super) fn alone<T: Send>(py: Python<'_>, n_jobs: Option<Jobs>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let own = Own::new(threads(n_jobs)?)?;
    let pool = own.pool()?;
    Ok(py.detach(|| pool.install(work)))
}

/// Exception raised by a signal handler.
pub(super) struct Signal {
    pub(super) error: PyErr,
    /// Whether a second signal arrived.
    pub(super) again: bool,
}

/// Runs `work` that can be stopped, like [`detached`]: when a signal handler raises an exception, `stop` is set and the
/// exception is returned with the result; `again` is set if a second one follows. Python runs signal handlers only in
/// its main thread, so this thread waits and checks for signals.
pub(super) fn interruptible<T: Send>(
    py: Python<'_>,
    n_jobs: Option<Jobs>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> Result<(T, Option<Signal>)> {
    let own = Own::new(threads(n_jobs)?)?;
    let pool = own.pool()?;
    let outcome = py.detach(|| {
        let (done, receiver) = mpsc::channel();
        let mut signal: Option<Signal> = None;
        let result = pool.in_place_scope(|scope| {
            scope.spawn(move |_| drop(done.send(work())));
            loop {
                match receiver.recv_timeout(PATIENCE) {
                    Ok(result) => break Some(result),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            signal = Some(Signal { error, again: signal.is_some() });
                        }
                    }
                }
            }
        });
        (result, signal)
    });
    match outcome {
        (Some(result), signal) => Ok((result, signal)),
        // A panic of `work` has already been propagated at the end of the scope.
        (None, _) => Err(Raised::input("the work ended without a result")),
    }
}
