//! Threads, and how Ctrl-C reaches them.
//!
//! The pools used last are kept, because starting threads takes longer than predicting a few rows; older ones end. Pools belong
//! to one process: the threads of a pool do not survive a fork, so a child that used its parent's would wait forever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, mem, process, thread};

use pyo3::prelude::*;
use pyo3::types::PyInt;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Raised, Result};

/// Process and number of threads.
type Key = (u32, usize);

/// Pools of each kind that stay when no call uses them: one for training and one for prediction with other threads.
const KEPT: usize = 2;

/// Pools that several calls use at once.
static SHARED: Mutex<Kept<Arc<ThreadPool>>> = Mutex::new(Kept(Vec::new()));

/// Pools for one call at a time, while no call uses them.
static IDLE: Mutex<Kept<ThreadPool>> = Mutex::new(Kept(Vec::new()));

/// At most [`KEPT`] pools, the one used last at the end.
struct Kept<P>(Vec<(Key, P)>);

impl<P> Kept<P> {
    fn take(&mut self, key: Key) -> Option<P> {
        self.0.iter().position(|(other, _)| *other == key).map(|at| self.0.remove(at).1)
    }

    fn put(&mut self, key: Key, pool: P) {
        self.0.push((key, pool));
        while self.0.len() > KEPT {
            let ((process, _), pool) = self.0.remove(0);
            // Ending the threads of another process takes locks that its threads may have held when it forked.
            if process != key.0 {
                mem::forget(pool);
            }
        }
    }
}

/// How long a signal may wait while trees grow.
const PATIENCE: Duration = Duration::from_millis(50);

/// How many threads Python asks for: from 1 on a number, -1 all, -2 all but one, and so on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jobs(i64);

impl<'a, 'py> FromPyObject<'a, 'py> for Jobs {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let given = || object.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        object.extract().map(Self).map_err(|_| {
            let message =
                format!("n_jobs = {}: it must be a number of threads from 1 on, -1 for all, or None", given());
            if object.is_instance_of::<PyInt>() { Raised::input(message) } else { Raised::dtype(message) }.into()
        })
    }
}

/// A pool that nobody else uses meanwhile: what runs on it may wait for other threads of Python, and they for a pool.
struct Own {
    key: Key,
    /// There until it is dropped.
    pool: Option<ThreadPool>,
}

impl Own {
    fn new(threads: usize) -> Result<Self> {
        let key = (process::id(), threads);
        let found = IDLE.lock().unwrap_or_else(PoisonError::into_inner).take(key);
        Ok(Self { key, pool: Some(found.map_or_else(|| build(threads), Ok)?) })
    }

    fn pool(&self) -> Result<&ThreadPool> {
        self.pool.as_ref().ok_or_else(|| Raised::input("the threads are gone"))
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
    built.map_err(|error| Raised::input(format!("no {threads} threads: {error}")))
}

/// `None` is what `OMP_NUM_THREADS` says, which joblib sets for its workers, or else all.
fn threads(n_jobs: Option<Jobs>) -> Result<usize> {
    let all = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match n_jobs {
        None => Ok(from_environment().unwrap_or_else(all)),
        Some(Jobs(0)) => {
            Err(Raised::input("n_jobs = 0: it must be a number of threads from 1 on, -1 for all, or None"))
        }
        Some(Jobs(n_jobs)) => {
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
pub(super) fn detached<T: Send>(py: Python<'_>, n_jobs: Option<Jobs>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let threads = threads(n_jobs)?;
    if threads == 1 {
        // One thread for all who ask for one would make them wait for each other.
        let own = Own::new(threads)?;
        let pool = own.pool()?;
        return Ok(py.detach(|| pool.install(work)));
    }
    let pool = shared(threads)?;
    Ok(py.detach(|| pool.install(work)))
}

/// What a signal's handler raised.
pub(super) struct Signal {
    pub(super) error: PyErr,
    /// Whether it was not the first.
    pub(super) again: bool,
}

/// The same for work that can be asked to stop: `stop` is set as soon as a signal's handler raises an exception, which
/// then comes back beside the result; if one more does, whoever waits wants no result at all. Handlers only run in the thread that Python calls its main one, so that waits here.
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
        // Work that panicked has already done so again at the end of the scope.
        (None, _) => Err(Raised::input("the work ended without a result")),
    }
}
