//! `Team`: threads that share the short loops of one training. See `docs/decisions/025-team.md`.
//!
//! A tree takes up to a hundred parallel loops of ten microseconds to ten milliseconds each. A pool that puts its
//! threads to sleep between loops spends more time waking them than they save, so the helpers of a team spin for a
//! moment before they sleep. No loop waits for a helper that has not arrived: the leader then runs every task
//! itself.
//!
//! Each thread owns a range of the rows, and takes the tasks of its rows first, so that rows stay in the cache of one
//! core from loop to loop.

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

/// Time for which a helper checks for a new loop before it sleeps: a few times the serial work between two loops.
const SPIN: Duration = Duration::from_micros(150);

/// Checks between two looks at the clock.
const CHECKS: u32 = 64;

/// Checks for the end of a loop before the leader offers its core to other threads.
const PATIENCE: u32 = 2048;

thread_local! {
    /// Number of this thread in its team.
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of the calling thread in its team: 0 for the leader.
pub(super) fn thread_number() -> usize {
    NUMBER.get()
}

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
    progress: Progress,
    signals: Signals,
    /// The first panic of a task.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

/// Items of a loop in the order in which threads claim them.
struct Shares {
    /// End of each thread's part of the sequence.
    ends: Vec<usize>,
    /// Index of each item.
    sequence: Vec<usize>,
}

/// Progress of a loop, which the leader reads while it waits. On a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Progress {
    /// Tasks that have not finished, claimed or not. A thread counts its tasks when it finds no more of them.
    unfinished: AtomicUsize,
    /// Nanoseconds that threads spent in the tasks of this loop.
    busy: AtomicU64,
    /// Nanoseconds of the longest task of this loop.
    longest: AtomicU64,
}

/// Signals to the helpers, which they read while they wait. On a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Signals {
    /// Number of loops so far.
    epoch: AtomicUsize,
    /// Helpers that sleep or are about to.
    asleep: AtomicUsize,
    ended: AtomicBool,
}

/// A range of unclaimed tasks: the first in the lower half, the end in the upper. On a separate cache line.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Segment(AtomicU64);

impl Segment {
    fn set(&self, tasks: Range<usize>) {
        self.0.store((tasks.end as u64) << 32 | tasks.start as u64, Ordering::Release);
    }

    /// Claims the first task for the owner of the segment, and the last for another thread: the owner reaches it last.
    fn claim(&self, is_owner: bool) -> Option<usize> {
        let rest = |tasks: u64| if is_owner { tasks + 1 } else { tasks - (1 << 32) };
        let next = |tasks: u64| ((tasks & MASK) < tasks >> 32).then(|| rest(tasks));
        let claimed = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, next).ok()?;
        usize::try_from(if is_owner { claimed & MASK } else { (claimed >> 32) - 1 }).ok()
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

    /// Calls `work` with each item and returns the results in the order of the items.
    pub(super) fn map<T: Send, R: Send>(&self, phase: Phase, items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
        let threads = self.threads();
        let shares = |items: &[T]| Shares {
            ends: (1..=threads).map(|thread| items.len() * thread / threads).collect(),
            sequence: (0..items.len()).collect(),
        };
        self.map_shares(phase, items, shares, work)
    }

    /// Like [`map`](Self::map) for items with rows, out of `n_rows`. `load` returns a row of an item and the size of its
    /// work. The owner of the row works on the item, unless another thread has nothing else to do. The largest items
    /// come first, so that few and small ones are left when a thread is done with its own.
    pub(super) fn map_rows<T: Send, R: Send>(
        &self,
        phase: Phase,
        n_rows: usize,
        items: Vec<T>,
        load: impl Fn(&T) -> (usize, usize),
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
        let threads = self.threads();
        let shares = |items: &[T]| {
            let owner = |row: usize| (row * threads / n_rows.max(1)).min(threads - 1);
            let mut placed: Vec<(usize, usize, usize)> = items
                .iter()
                .enumerate()
                .map(|(at, item)| {
                    let (row, size) = load(item);
                    (owner(row), usize::MAX - size, at)
                })
                .collect();
            placed.sort_unstable();
            let ends = (0..threads).map(|thread| placed.partition_point(|&(owner, ..)| owner <= thread)).collect();
            Shares { ends, sequence: placed.into_iter().map(|(.., at)| at).collect() }
        };
        self.map_shares(phase, items, shares, work)
    }

    /// Calls `work` with each item. `shares` distributes the items to the threads.
    fn map_shares<T: Send, R: Send>(
        &self,
        phase: Phase,
        items: Vec<T>,
        shares: impl Fn(&[T]) -> Shares,
        work: impl Fn(T) -> R + Sync,
    ) -> Vec<R> {
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
        let Shares { ends, sequence } = shares(&items);
        let cells: Vec<Mutex<Option<T>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
        let results: Vec<Mutex<Option<R>>> = cells.iter().map(|_| Mutex::new(None)).collect();
        let waiting = self.run(&ends, &|task| {
            let at = sequence[task];
            let item = cells[at].lock().unwrap_or_else(PoisonError::into_inner).take();
            let result = item.map(&work);
            *results[at].lock().unwrap_or_else(PoisonError::into_inner) = result;
        });
        let of_loop = |time: &AtomicU64| Duration::from_nanos(time.swap(0, Ordering::Relaxed));
        let (busy, longest) = (of_loop(&self.shared.progress.busy), of_loop(&self.shared.progress.longest));
        let results = results.into_iter().filter_map(|cell| cell.into_inner().unwrap_or_else(PoisonError::into_inner));
        let results = results.collect();
        let usage = PhaseUsage { loops: 1, in_loops: start.elapsed(), waiting, busy };
        self.usage.borrow_mut().add(phase, usage, longest);
        results
    }

    /// Number of threads.
    pub(super) fn threads(&self) -> usize {
        self.shared.segments.len()
    }

    /// Returns the use of the threads so far.
    pub(super) fn usage(&self) -> TeamUsage {
        TeamUsage { threads: self.helpers.len() + 1, total: self.start.elapsed(), ..*self.usage.borrow() }
    }

    /// Calls `job` with every number below the last of `ends`, on all threads that are awake in time. The tasks of a
    /// thread end before its number in `ends`. Returns the time that this thread waited for the others at the end.
    #[expect(unsafe_code, reason = "a loop body lives shorter than the threads that run it")]
    fn run(&self, ends: &[usize], job: &(dyn Fn(usize) + Sync)) -> Duration {
        let shared = self.shared;
        // SAFETY: only the lifetime changes. The pointer is used by owners of claimed tasks, and this function returns
        // after the last of them has finished.
        let erased: Job =
            unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(job) };
        // SAFETY: all tasks have finished, see `Shared::job`.
        unsafe { *shared.job.get() = Some(erased) };
        let Progress { unfinished, .. } = &shared.progress;
        unfinished.store(ends.last().copied().unwrap_or_default(), Ordering::Relaxed);
        let mut first = 0;
        for (segment, &end) in shared.segments.iter().zip(ends) {
            segment.set(first..end);
            first = end;
        }
        // In one order with `asleep`: either this thread sees the sleeper, or the sleeper sees the loop.
        shared.signals.epoch.fetch_add(1, Ordering::SeqCst);
        if shared.signals.asleep.load(Ordering::SeqCst) > 0 {
            self.helpers.iter().for_each(Thread::unpark);
        }
        shared.work(0);
        let start = Stopwatch::start();
        let mut spins = 0;
        while unfinished.load(Ordering::Acquire) > 0 {
            // A task ends soon, unless its thread has lost its core: then this one may give it up.
            if spins < PATIENCE {
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
            progress: Progress::default(),
            signals: Signals::default(),
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
        NUMBER.set(own);
        let Signals { epoch, asleep, ended } = &self.signals;
        let mut seen = 0;
        loop {
            let is_new = || epoch.load(Ordering::Relaxed) != seen || ended.load(Ordering::Relaxed);
            if !spin(is_new) {
                asleep.fetch_add(1, Ordering::SeqCst);
                if epoch.load(Ordering::SeqCst) == seen && !ended.load(Ordering::SeqCst) {
                    thread::park();
                }
                asleep.fetch_sub(1, Ordering::SeqCst);
            }
            if ended.load(Ordering::Acquire) {
                return;
            }
            seen = epoch.load(Ordering::Acquire);
            self.work(own);
        }
    }

    /// Claims and runs tasks until none is left: first those of the thread's own segment, then those of the others.
    #[expect(unsafe_code, reason = "calls the job by its pointer")]
    fn work(&self, own: usize) {
        let threads = self.segments.len();
        let start = Stopwatch::start();
        let (mut tasks, mut last, mut busy, mut longest) = (0, Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for at in 0..threads {
            let segment = &self.segments[(own + at) % threads];
            while let Some(task) = segment.claim(at == 0) {
                // SAFETY: the claim saw the store to the segment that follows the write of the job, and the job is not
                // written again before this task has finished.
                let job = unsafe { *self.job.get() };
                if let Some(job) = job {
                    // SAFETY: `run` keeps the closure alive until this task is counted as finished.
                    let job = unsafe { &*job };
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(task))) {
                        self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                    }
                }
                let now = start.elapsed();
                (tasks, busy, longest) = (tasks + 1, busy + (now - last), longest.max(now - last));
                last = now;
            }
        }
        if tasks > 0 {
            let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.progress.busy.fetch_add(nanos(busy), Ordering::Relaxed);
            self.progress.longest.fetch_max(nanos(longest), Ordering::Relaxed);
            // The last access to the loop, which ends when all tasks are counted.
            self.progress.unfinished.fetch_sub(tasks, Ordering::Release);
        }
    }
}

/// Waits briefly without sleeping. Returns whether `is_done` was true in time.
fn spin(is_done: impl Fn() -> bool) -> bool {
    // The duration of a check differs by a factor of ten between processors.
    let start = Stopwatch::start();
    loop {
        for _ in 0..CHECKS {
            if is_done() {
                return true;
            }
            spin_loop();
        }
        if start.elapsed() >= SPIN {
            return false;
        }
    }
}

/// Ends the helpers when it is dropped.
struct Ending<'a>(Team<'a>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.shared.signals.ended.store(true, Ordering::SeqCst);
        self.0.helpers.iter().for_each(Thread::unpark);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::{Phase, Shared, Team};
    use crate::distributed::Peers;
    use crate::feature::{Features, Quantizer};
    use crate::gradient::GradientPrecision;
    use crate::model::Model;
    use crate::train::grow::{Codes4, Codes8, Floats};
    use crate::train::rounds::Rounds;
    use crate::train::{Dataset, Growth, Params, Trainer};

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
    fn items_with_rows_are_worked_on_once_wherever_their_rows_are() {
        for threads in [1, 2, 3, 8] {
            with_all(threads, |team| {
                for rows in [vec![], vec![0], vec![0, 99], vec![98, 98, 99], vec![1; 40], (0..100).collect()] {
                    let doubled = team.map_rows(Phase::Scores, 100, rows.clone(), |&row| (row, row % 3), |row| row * 2);
                    assert_eq!(doubled, rows.iter().map(|row| row * 2).collect::<Vec<usize>>());
                }
            });
        }
    }

    #[test]
    fn a_segment_is_claimed_from_both_ends() {
        let segment = super::Segment::default();
        segment.set(3..7);
        let claimed = [true, false, true, false, true, false].map(|is_owner| segment.claim(is_owner));
        assert_eq!(claimed, [Some(3), Some(6), Some(4), Some(5), None, None]);
    }

    /// Returns a model trained by a team of this size.
    fn model(threads: usize, data: &mut Dataset, growth: Growth, precision: GradientPrecision) -> Model {
        let params = Params { n_estimators: 2, num_leaves: 40, growth, ..Params::default() };
        let mut trainer = Trainer::new(params, crate::objective::by_name("binary").expect("a name"));
        let peers = Peers::alone(data.n_rows());
        let training = with_all(threads, |team| match precision {
            GradientPrecision::Pair8 => Rounds::<Codes8>::new(team, &mut trainer, data, None, &peers)?.run(),
            GradientPrecision::Pair4 => Rounds::<Codes4>::new(team, &mut trainer, data, None, &peers)?.run(),
            GradientPrecision::F32 | GradientPrecision::Auto => {
                Rounds::<Floats>::new(team, &mut trainer, data, None, &peers)?.run()
            }
        });
        training.expect("valid gradients").model
    }

    #[test]
    fn one_to_sixteen_threads_train_the_same_model_on_any_machine() {
        // Large nodes, small ones, and some that are small only for a few threads.
        let (rows, columns) = (60_000, 6);
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        let values: Vec<f32> = (0..rows * columns).map(|_| random()).collect();
        let target =
            |row: &[f32]| f32::from(u8::from(row[0] * row[1] + row[2].powi(2) + 0.3 * row[3] > 0.7 + row[5] / 5.0));
        let targets: Vec<f32> = values.chunks(columns).map(target).collect();
        let features = Features::row_major(&values[..], rows, columns).expect("a matrix");
        let mut data = Dataset::new(&features, targets, None, &Quantizer::default()).expect("valid data");
        for (growth, precision) in [
            (Growth::LeafWise, GradientPrecision::F32),
            (Growth::LeafWise, GradientPrecision::Pair8),
            (Growth::Symmetric, GradientPrecision::F32),
        ] {
            let want = model(1, &mut data, growth, precision);
            assert!(want.trees.iter().all(|tree| tree.leaves.len() > 16), "{growth:?}: the trees are too small");
            for threads in [2, 3, 8, 16] {
                let found = model(threads, &mut data, growth, precision);
                assert!(found == want, "{growth:?}, {precision}, {threads} threads");
            }
        }
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
