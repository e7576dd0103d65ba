//! Long crash tests: `cargo xtask crash`.

use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::mutant::Mutant;
use crate::points::Tally;
use crate::{closed, faults, kill, lies, mutants, objects, points, writers};

/// Crashes at least `wanted` times on all cores, with complete seeds from `first` on.
///
/// # Errors
/// Returns the loss for the lowest seed that lost data.
pub(crate) fn simulate(first: u64, wanted: usize) -> Result<Tally, String> {
    let (next, stop) = (AtomicU64::new(first), AtomicBool::new(false));
    let all = Mutex::new((Tally::default(), None::<(u64, String)>));
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let mut tally = Tally::default();
            let result = points::explore(seed, None, &mut tally).and_then(|()| match seed % 8 {
                0 | 4 => faults::explore(seed, &mut tally),
                1 | 5 => faults::reads(seed, &mut tally),
                2 | 6 => lies::explore(seed, &mut tally),
                3 => closed::explore(seed, &mut tally),
                _ => writers::explore(seed, 100, &mut tally),
            });
            let result = result.and_then(|()| match seed % 2 {
                0 => objects::explore(seed, None, &mut tally),
                _ => objects::faults(seed, &mut tally),
            });
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.0.add(&tally);
            if let Err(why) = result {
                if all.1.as_ref().is_none_or(|(lowest, _)| seed < *lowest) {
                    all.1 = Some((seed, why));
                }
                stop.store(true, Ordering::Relaxed);
            }
            if all.0.total() >= wanted {
                stop.store(true, Ordering::Relaxed);
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let (tally, wrong) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    wrong.map_or(Ok(tally), |(_, why)| Err(why))
}

fn asked(what: &str, otherwise: u64) -> u64 {
    env::var(what).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
#[ignore = "takes as long as one likes: `cargo xtask crash`"]
fn a_long_run_loses_no_acknowledged_write() {
    let seed = asked("BITGRAIN_CRASH_SEED", 1);
    let points = usize::try_from(asked("BITGRAIN_CRASH_POINTS", 10_000)).expect("a number that fits");
    let kills = usize::try_from(asked("BITGRAIN_CRASH_KILLS", 50)).expect("a number that fits");
    let begun = std::time::Instant::now();
    // Without this check, crash tests that miss every deliberate fault would pass.
    Mutant::ALL.into_iter().for_each(mutants::catch);
    let mut tally = if points > 0 { simulate(seed, points).unwrap_or_else(|why| lost(&why)) } else { Tally::default() };
    kill::explore(seed, kills, &mut tally).unwrap_or_else(|why| lost(&why));
    println!("| crash | times | failures |\n|---|---:|---:|");
    tally.0.iter().for_each(|(kind, count)| println!("| {kind} | {count} | 0 |"));
    println!("| together | {} | 0 |", tally.total());
    println!("in {:.1} s, from seed {seed} on", begun.elapsed().as_secs_f64());
}

fn lost<T>(why: &str) -> T {
    panic!("{why}\nto see it again: cargo xtask crash --points 1 --kills 0 --seed S, with the seed S above")
}
