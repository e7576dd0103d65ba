//! `Watch`: progress and interruption of long calls.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bitgrain::nn::Progress;
use pyo3::prelude::*;

use crate::error::{Raised, Result};
use crate::process;

/// Interval of progress reports and checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(100);

/// Progress of a call.
#[derive(Default)]
pub(super) struct Watch {
    done: AtomicU64,
    stopped: AtomicBool,
    tensor: Mutex<String>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Progress for Watch {
    fn add(&self, bytes: u64) {
        self.done.fetch_add(bytes, Ordering::Relaxed);
    }

    fn tensor(&self, name: &str) {
        name.clone_into(&mut locked(&self.tensor));
    }

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Waits up to [`PAUSE`] and returns whether the work has ended.
    fn wait(&self) -> bool {
        let ended = locked(&self.ended);
        if *ended {
            return true;
        }
        *self.end.wait_timeout(ended, PAUSE).unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Signals the end of the work on drop, even after a panic.
struct Ending<'a>(&'a Watch);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *locked(&self.0.ended) = true;
        self.0.end.notify_all();
    }
}

/// Runs `work` of `total` bytes without the GIL. `notify` is called with the bytes done, the total and the current
/// tensor; if it raises, or Ctrl-C is pressed, the work is stopped and the exception is returned.
pub(super) fn watched<T: Send>(
    py: Python<'_>,
    total: u64,
    notify: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> Result<T> {
    let watch = Watch::default();
    let mut wrong: Option<PyErr> = None;
    let done = std::thread::scope(|scope| {
        let handle = scope.spawn(|| {
            let _ending = Ending(&watch);
            process::run(|| work(&watch))
        });
        while !py.detach(|| watch.wait()) {
            if wrong.is_some() {
                // Already stopping: only the first exception is reported.
                continue;
            }
            if let Err(error) = py.check_signals().and_then(|()| tell(&watch, total, notify)) {
                watch.stopped.store(true, Ordering::Relaxed);
                wrong = Some(error);
            }
        }
        handle.join()
    });
    let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    match wrong {
        Some(error) => Err(Raised::from(error)),
        None => {
            if done.is_ok() {
                tell(&watch, total, notify)?;
            }
            done
        }
    }
}

fn tell(watch: &Watch, total: u64, notify: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(notify) = notify else { return Ok(()) };
    let name = locked(&watch.tensor).clone();
    notify.call1((watch.done.load(Ordering::Relaxed).min(total), total, name)).map(|_| ())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
