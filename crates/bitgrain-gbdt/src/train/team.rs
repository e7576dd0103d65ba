//! `Team`: threads that share the short loops of one training. See `docs/decisions/025-team.md`.
//!
//! A tree takes up to a hundred parallel loops of ten microseconds to ten milliseconds each. A pool that puts its
//! threads to sleep between loops spends more time waking them than they save, so the helpers of a team spin for a
//! moment before they sleep. No loop waits for a helper that has not arrived: the leader then runs every task
//! itself.

use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use super::stopwatch::Stopwatch;

use super::usage::{Phase, PhaseUsage, TeamUsage};

/// Checks for a new loop before a helper sleeps: about 100 microseconds, a few times the serial work between two loops.
const SPINS: u32 = 2048;

/// The thread that trains, and its helpers.
///
/// Not `Sync`, so that a task cannot start another loop: its job would replace the one it belongs to.
pub(super) struct Team<'a> {
    shared: &'a Shared,
    helpers: Vec<Thread>,
    not_sync: PhantomData<Cell<()>>,
    start: Stopwatch,
    usage: RefCell<TeamUsage>,
}

/// A loop body, without its lifetime.
type Job = *const (dyn Fn(usize) + Sync);

/// State that leader and helpers share.
struct Shared {
    /// Written only while all tasks have finished; read only by the owner of a claimed task.
    job: UnsafeCell<Option<Job>>,
    /// Tasks that no thread has claimed, a segment for each thread.
    segments: Vec<Segment>,
    /// Tasks that have not finished, claimed or not.
    unfinished: AtomicUsize,
    /// Number of loops so far.
    epoch: AtomicUsize,
    /// Helpers that sleep or are about to.
    asleep: AtomicUsize,
    ended: AtomicBool,
    /// Nanoseconds that threads spent in the tasks of this loop.
    busy: AtomicU64,
    /// Nanoseconds of the longest task of this loop.
    longest: AtomicU64,
    /// The first panic of a task.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// A range of unclaimed tasks: the first in the lower half, the end in the upper. On a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Segment(AtomicU64);

impl Segment {
    fn set(&self, tasks: Range<usize>) {
        self.0.store((tasks.end as u64) << 32 | tasks.start as u64, Ordering::Release);
    }

    fn claim(&self) -> Option<usize> {
        let next = |tasks: u64| ((tasks & MASK) < tasks >> 32).then_some(tasks + 1);
        let claimed = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next).ok()?;
        usize::try_from(claimed & MASK).ok()
    }
}

/// The lower half of a segment.
const MASK: u64 = u32::MAX as u64;

#[expect(unsafe_code, reason = "the job is a raw pointer; its protocol is described at the field")]
// SAFETY: `job` is the only field that is not `Sync`. The leader writes it while `unfinished` is 0, when no thread
// owns a task; a thread reads it after it claimed a task, which orders the read after the write.
unsafe impl Sync for Shared {}

impl Team<'_> {
    /// Runs `work` with a team of at most `threads` threads, the calling one included.
    ///
    /// More threads than the process may use cores are not started: a helper that is preempted within a task would
    /// make all others wait. If a thread cannot be started, the team is smaller.
    pub(super) fn with<R>(threads: usize, work: impl FnOnce(&Team<'_>) -> R) -> R {
        let cores = || thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = if threads > 1 { threads.min(cores()) } else { 1 };
        Shared::new(threads).run_team(work)
    }

    /// Calls `work` with each item and returns the results in the order of the items. Earlier items start earlier.
    pub(super) fn map<T: Send, R: Send>(&self, phase: Phase, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        let start = Stopwatch::start();
        if self.helpers.is_empty() || items.len() < 2 {
            let (mut last, mut longest) = (Duration::ZERO, Duration::ZERO);
            let timed = |item| {
                let result = work(item);
                let now = start.elapsed();
                longest = longest.max(now - last);
                last = now;
                result
            };
            let results = items.into_iter().map(timed).collect();
            let usage = PhaseUsage { loops: 1, in_loops: start.elapsed(), waiting: Duration::ZERO, busy: last };
            self.usage.borrow_mut().add(phase, usage, longest);
            return results;
        }
        let cells: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
        let results: Vec<Mutex<Option<R>>> = cells.iter().map(|_| Mutex::new(None)).collect();
        let waiting = self.run(cells.len(), &|task| {
            let item = cells[task].lock().unwrap_or_else(PoisonError::into_inner).take();
            let result = item.map(&work);
            *results[task].lock().unwrap_or_else(PoisonError::into_inner) = result;
        });
        let of_loop = |time: &AtomicU64| Duration::from_nanos(time.swap(0, Ordering::Relaxed));
        let (busy, longest) = (of_loop(&self.shared.busy), of_loop(&self.shared.longest));
        let results = results.into_iter().filter_map(|cell| cell.into_inner().unwrap_or_else(PoisonError::into_inner));
        let results = results.collect();
        let usage = PhaseUsage { loops: 1, in_loops: start.elapsed(), waiting, busy };
        self.usage.borrow_mut().add(phase, usage, longest);
        results
    }

    /// Returns the use of the threads so far.
    pub(super) fn usage(&self) -> TeamUsage {
        TeamUsage { threads: self.helpers.len() + 1, total: self.start.elapsed(), ..*self.usage.borrow() }
    }

    /// Calls `job` with every number below `tasks`, on all threads that are awake in time. Returns the time that this
    /// thread waited for the others at the end.
    #[expect(unsafe_code, reason = "a loop body lives shorter than the threads that run it")]
    fn run(&self, tasks: usize, job: &(dyn Fn(usize) + Sync)) -> Duration {
        let shared = self.shared;
        // SAFETY: only the lifetime changes. The pointer is used by owners of claimed tasks, and this function returns
        // after the last of them has finished.
        let erased: Job =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(job) };
        // SAFETY: all tasks have finished, see `Shared::job`.
        unsafe { *shared.job.get() = Some(erased) };
        shared.unfinished.store(tasks, Ordering::Relaxed);
        let threads = shared.segments.len();
        for (at, segment) in shared.segments.iter().enumerate() {
            segment.set(tasks * at / threads..tasks * (at + 1) / threads);
        }
        // In one order with `asleep`: either this thread sees the sleeper, or the sleeper sees the loop.
        shared.epoch.fetch_add(1, Ordering::SeqCst);
        if shared.asleep.load(Ordering::SeqCst) > 0 {
            self.helpers.iter().for_each(Thread::unpark);
        }
        shared.work(0);
        let start = Stopwatch::start();
        let mut spins = 0;
        while shared.unfinished.load(Ordering::Acquire) > 0 {
            // A task ends soon, unless its thread has lost its core: then this one may give it up.
            if spins < SPINS {
                spins += 1;
                spin_loop();
            } else {
                thread::yield_now();
            }
        }
        let waiting = start.elapsed();
        if let Some(panic) = shared.panic.lock().unwrap_or_else(PoisonError::into_inner).take() {
            resume_unwind(panic);
        }
        waiting
    }
}

impl Shared {
    fn new(threads: usize) -> Self {
        Self {
            job: UnsafeCell::new(None),
            segments: (0..threads).map(|_| Segment::default()).collect(),
            unfinished: AtomicUsize::new(0),
            epoch: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            busy: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            panic: Mutex::new(None),
        }
    }

    /// Runs `work` with a team.
    fn run_team<R>(&self, work: impl FnOnce(&Team<'_>) -> R) -> R {
        thread::scope(|scope| {
            let start = || thread::Builder::new().name("bitgrain-team".to_owned());
            let helper = |at| start().spawn_scoped(scope, move || self.help(at)).ok().map(|h| h.thread().clone());
            let helpers = (1..self.segments.len()).map_while(helper).collect();
            // Ends the helpers on every way out: the scope waits for them.
            let team = Ending(Team {
                shared: self,
                helpers,
                not_sync: PhantomData,
                start: Stopwatch::start(),
                usage: RefCell::default(),
            });
            work(&team.0)
        })
    }

    /// Waits for loops and works in them until the team ends.
    fn help(&self, own: usize) {
        let mut seen = 0;
        loop {
            let is_new = || self.epoch.load(Ordering::Relaxed) != seen || self.ended.load(Ordering::Relaxed);
            let arrived = (0..SPINS).any(|_| {
                spin_loop();
                is_new()
            });
            if !arrived {
                self.asleep.fetch_add(1, Ordering::SeqCst);
                if self.epoch.load(Ordering::SeqCst) == seen && !self.ended.load(Ordering::SeqCst) {
                    thread::park();
                }
                self.asleep.fetch_sub(1, Ordering::SeqCst);
            }
            if self.ended.load(Ordering::Acquire) {
                return;
            }
            seen = self.epoch.load(Ordering::Acquire);
            self.work(own);
        }
    }

    /// Claims and runs tasks until none is left: first those of the thread's own segment, then those of the others.
    /// Equal parts of successive loops thus tend to stay in the cache of one core.
    #[expect(unsafe_code, reason = "calls the job by its pointer")]
    fn work(&self, own: usize) {
        let threads = self.segments.len();
        for segment in (0..threads).map(|at| &self.segments[(own + at) % threads]) {
            while let Some(task) = segment.claim() {
                // SAFETY: the claim saw the store to the segment that follows the write of the job, and the job is not
                // written again before this task has finished.
                let job = unsafe { *self.job.get() };
                if let Some(job) = job {
                    let start = Stopwatch::start();
                    // SAFETY: `run` keeps the closure alive until this task has finished.
                    let job = unsafe { &*job };
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(task))) {
                        self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                    }
                    let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
                    self.busy.fetch_add(nanos, Ordering::Relaxed);
                    self.longest.fetch_max(nanos, Ordering::Relaxed);
                }
                self.unfinished.fetch_sub(1, Ordering::Release);
            }
        }
    }
}

/// Ends the helpers when it is dropped.
struct Ending<'a>(Team<'a>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.shared.ended.store(true, Ordering::SeqCst);
        self.0.helpers.iter().for_each(Thread::unpark);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::{Phase, Shared, Team};

    /// Also on a machine with fewer cores.
    fn with_all<R>(threads: usize, work: impl FnOnce(&Team<'_>) -> R) -> R {
        Shared::new(threads).run_team(work)
    }

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for threads in [1, 2, 3, 8] {
            with_all(threads, |team| {
                for len in [0, 1, 2, 3, 100, 1000] {
                    let items: Vec<usize> = (0..len).collect();
                    let squares = team.map(Phase::Scores, items.clone(), |item| item * item);
                    assert_eq!(squares, items.iter().map(|item| item * item).collect::<Vec<_>>());
                }
            });
        }
    }

    #[test]
    fn borrowed_slices_are_written_by_several_threads() {
        let mut numbers = vec![0_u64; 10_000];
        with_all(4, |team| {
            for _ in 0..50 {
                team.map(Phase::Scores, numbers.chunks_mut(7).collect(), |chunk: &mut [u64]| {
                    chunk.iter_mut().for_each(|number| *number += 1);
                });
            }
        });
        assert!(numbers.iter().all(|&number| number == 50));
    }

    #[test]
    fn helpers_wake_up_after_sleeping() {
        with_all(3, |team| {
            for _ in 0..5 {
                thread::sleep(Duration::from_millis(5));
                assert_eq!(team.map(Phase::Scores, vec![1, 2, 3, 4], |item| item + 1), [2, 3, 4, 5]);
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_leader_after_all_tasks_ended() {
        let caught = std::panic::catch_unwind(|| {
            with_all(2, |team| {
                team.map(Phase::Scores, (0..100).collect(), |item: usize| assert!(item != 50, "item 50"));
            });
        });
        let message = caught.expect_err("a panic");
        assert_eq!(message.downcast_ref::<&str>(), Some(&"item 50"));
    }
}
